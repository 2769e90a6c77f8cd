"""Small PDFs for tests, made by hand."""

from __future__ import annotations

import io

PICTURE = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>"
)


def pdf(*pages: str, pictures: bool = False) -> bytes:
    """A PDF with these lines of Latin text, a page each; with `pictures` each page draws one."""
    bodies = [f"BT /F1 12 Tf 20 700 Td ({text}) Tj ET".encode("latin-1") if text else b"" for text in pages]
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    last = 4 + 2 * len(pages)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, body in enumerate(bodies):
        draws = f" /XObject << /I {last} 0 R >>" if pictures else ""
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {5 + 2 * at} 0 R"
        objects.append(f"{page} /Resources << /Font << /F1 3 0 R >>{draws} >> >>".encode())
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(body), body))
    if pictures:
        objects.append(PICTURE + b"\nstream\n\xff\nendstream")
    return joined(objects)


def joined(objects: list[bytes]) -> bytes:
    """A file of these objects, numbered from 1, the first of them its catalogue."""
    out, places = io.BytesIO(), []
    out.write(b"%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for place in places:
        out.write(b"%010d 00000 n \n" % place)
    out.write(b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start))
    return out.getvalue()
