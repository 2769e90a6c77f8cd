"""`gongfu models test`: asks a model a few small things and tells what works."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from gongfu.app import App
from gongfu.core.errors import EXIT_DONE, EXIT_FAILED
from gongfu.models.probe import Finding, probe, probe_vectors
from gongfu.surfaces.cli.cli import Cli
from gongfu.surfaces.cli.opening import opened, run_async
from gongfu.surfaces.cli.options import Opening
from gongfu.surfaces.cli.result import to_json
from gongfu.surfaces.cli.style import clean
from gongfu.surfaces.cli.width import pad


def test_model(cli: Cli, *, ref: str | None, deep: bool, as_json: bool, config: str | None, root: str | None) -> int:
    """Print a line for every check; exit code 1 when one of them failed."""

    async def work() -> int:
        async with opened(cli, Opening(config=config or "", root=root)) as app:
            return await _test(cli, app, ref or "", deep=deep, as_json=as_json)

    return run_async(work)


async def _test(cli: Cli, app: App, ref: str, *, deep: bool, as_json: bool) -> int:
    name, checks = await _checks(app, ref, deep=deep)
    if not as_json:
        cli.out.line(cli.out_style.bold(name))
    found: list[Finding] = []
    async with aclosing(checks) as findings:
        async for finding in findings:
            found.append(finding)
            if not as_json:
                _print(cli, finding)
    ok = all(finding.level != "fail" for finding in found)
    if as_json:
        rows = [
            {
                "name": finding.name,
                "level": finding.level,
                "detail": finding.detail(cli.say.language),
                "advice": finding.advice(cli.say.language),
            }
            for finding in found
        ]
        cli.out.line(to_json({"type": "model_test", "model": name, "ok": ok, "checks": rows}))
    return EXIT_DONE if ok else EXIT_FAILED


async def _checks(app: App, ref: str, *, deep: bool) -> tuple[str, AsyncGenerator[Finding, None]]:
    """The reference that is tested, and its checks: those of vectors for the embedding model."""
    embedder = app.router.embedder(ref) if app.router.makes_vectors(ref) else None
    if embedder is not None:
        return embedder.info.ref, probe_vectors(embedder)
    provider = (await app.router.chain("main", ref))[0]
    return provider.info.ref, probe(provider, deep=deep)


def _print(cli: Cli, finding: Finding) -> None:
    style, language = cli.out_style, cli.say.language
    mark = {"ok": style.green("✓"), "warn": style.yellow("!"), "fail": style.red("✗")}.get(finding.level, "·")
    cli.out.line(f"  {mark} {pad(finding.label(language), 18)}  {clean(finding.detail(language))}")
    advice = finding.advice(language)
    if advice:
        cli.out.line(style.dim(f"      {clean(advice)}"))
