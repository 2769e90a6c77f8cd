"""Sentences of exported sessions and documents, and what can go wrong with them."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    "session": ("session {id}", "会话 {id}"),
    "tokens": ("{count} tokens", "{count} 个 token"),
    "you": ("You", "你"),
    "you_too": ("You, meanwhile", "你（进行中补充）"),
    "thinking": ("Thinking", "思考"),
    "image": ("image, {width} × {height}", "图片，{width} × {height}"),
    "cut": ("[… {count} characters left out …]", "[……省略 {count} 个字符……]"),
    "status_done": ("done", "完成"),
    "status_failed": ("failed", "失败"),
    "status_refused": ("refused", "已拒绝"),
    "status_cancelled": ("cancelled", "已取消"),
    "status_interrupted": ("interrupted", "已中断"),
    "status_open": ("not finished", "未完成"),
    "nothing": (
        "There is nothing to export: session {session} has no finished turn. No file was written.",
        "没有可导出的内容：会话 {session} 还没有完成的轮次。没有写入文件。",
    ),
    "no_pdf": (
        "A PDF needs Chrome, Chromium or Edge, or the package typst, and neither is there. No file was written; "
        "`pip install 'gongfu[pdf]'` brings the package, or export HTML and print it.",
        "导出 PDF 需要 Chrome、Chromium 或 Edge，或 typst 包，但都没有找到。没有写入文件；"
        "可用 `pip install 'gongfu[pdf]'` 安装该包，或导出 HTML 后打印。",
    ),
    "pdf_failed": (
        "The PDF could not be made: {reason}. No file was written; HTML and Markdown can be exported all the same.",
        "无法生成 PDF：{reason}。没有写入文件；仍可导出 HTML 和 Markdown。",
    ),
    "exists": (
        "{path} exists already and was not touched; give another name, or --force to replace it.",
        "{path} 已存在，未作改动；请换一个名称，或用 --force 替换。",
    ),
    "not_written": (
        "{path} could not be written: {reason}. An older file there is as it was.",
        "无法写入 {path}：{reason}。原有文件保持不变。",
    ),
    "suffix": (
        "{path} does not say which format it is to have. Nothing was written; let it end in .md, .html, .json or .pdf, "
        "or give --format.",
        "{path} 没有说明要用哪种格式。没有写入文件；请以 .md、.html、.json 或 .pdf 结尾，或给出 --format。",
    ),
    "written": ("Wrote {path} ({size}).", "已写入 {path}（{size}）。"),
}
