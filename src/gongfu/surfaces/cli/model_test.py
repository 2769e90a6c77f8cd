"""`gongfu models test`: asks a model a few small things and tells what works."""

from __future__ import annotations

from contextlib import aclosing

from gongfu.app import App
from gongfu.core.errors import EXIT_DONE, EXIT_FAILED
from gongfu.models.probe import Finding, probe
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
    provider = (await app.router.chain("main", ref))[0]
    if not as_json:
        cli.out.line(cli.out_style.bold(provider.info.ref))
    found: list[Finding] = []
    async with aclosing(probe(provider, deep=deep)) as findings:
        async for finding in findings:
            found.append(finding)
            if not as_json:
                _print(cli, finding)
    ok = all(finding.level != "fail" for finding in found)
    if as_json:
        checks = [
            {
                "name": finding.name,
                "level": finding.level,
                "detail": finding.detail(cli.say.language),
                "advice": finding.advice(cli.say.language),
            }
            for finding in found
        ]
        cli.out.line(to_json({"type": "model_test", "model": provider.info.ref, "ok": ok, "checks": checks}))
    return EXIT_DONE if ok else EXIT_FAILED


def _print(cli: Cli, finding: Finding) -> None:
    style, language = cli.out_style, cli.say.language
    mark = {"ok": style.green("✓"), "warn": style.yellow("!"), "fail": style.red("✗")}.get(finding.level, "·")
    cli.out.line(f"  {mark} {pad(finding.label(language), 18)}  {clean(finding.detail(language))}")
    advice = finding.advice(language)
    if advice:
        cli.out.line(style.dim(f"      {clean(advice)}"))
