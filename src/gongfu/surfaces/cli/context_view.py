"""What `gongfu context` shows a person."""

from __future__ import annotations

import time
from collections.abc import Callable

from gongfu.context.receipt import Receipt
from gongfu.context.xray import Fold, Left, Purpose, RuleLine, Slice, Xray, left_out, part_of, picture, totals
from gongfu.core.told import Omitted
from gongfu.surfaces.cli.context_page import Page, percent
from gongfu.surfaces.cli.render.numbers import size, tokens
from gongfu.surfaces.cli.render.table import table
from gongfu.surfaces.cli.style import one_line
from gongfu.surfaces.cli.width import NARROW, clip, pad, width, wrap

_HASH = 12


class View(Page, frozen=True):
    """The blocks of one request, and the list of all."""

    # --- one request ---

    def request(self, seen: Xray, receipt: Receipt) -> list[str]:
        """Everything about one request, and the session around it."""
        blocks = [
            self._head(seen, receipt),
            self._picture(seen, receipt),
            self._held(seen, receipt),
            self._left(seen, receipt),
            self._rules(seen, receipt),
            self._folds(seen, receipt),
            self._cache(seen, receipt),
            self._agents(seen),
        ]
        lines = [line for block in blocks if block for line in ("", *block)][1:]
        if len(seen.receipts) > 1:
            lines += ["", *self._dim(self._tell("all_hint", count=len(seen.receipts)))]
        return lines

    def _head(self, seen: Xray, receipt: Receipt) -> list[str]:
        tell = self._tell
        moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(receipt.time))
        number = tell("head", number=receipt.number, count=len(seen.receipts))
        parts = [number, receipt.purpose, one_line(receipt.model)]
        parts += [tell("attempt", attempt=receipt.attempt)] if receipt.attempt > 1 else []
        sizes = [tell("prompt_size", estimate=tokens(receipt.estimate))]
        if receipt.budget:
            sizes = [tell("prompt_of", estimate=tokens(receipt.estimate), budget=tokens(receipt.budget))]
        sizes += [tell("window_of", window=tokens(receipt.window))] if receipt.window else []
        sizes += [tell("on_wire", messages=receipt.messages, size=size(receipt.bytes))] if receipt.bytes else []
        lines = self._dim(f"{seen.session}  {one_line(seen.title)}".rstrip())
        lines += self._dim(self.speech("agents.parent", session=seen.parent)) if seen.parent else []
        lines += self._packed(parts, self.style.bold)
        lines += self._packed(sizes)
        lines += self._dim(f"{receipt.request}  {moment}")
        lines += self._wrapped(tell("auxiliary")) if receipt.scope == "auxiliary" else []
        return [*lines, *self._wrapped(self._ending(receipt))]

    def _ending(self, receipt: Receipt) -> str:
        tell, usage = self._tell, receipt.usage
        if receipt.fault:
            fault = self._word(f"cli.fault_{receipt.fault}", receipt.fault)
            if receipt.retry_in is not None:
                return tell("failed_retry", fault=fault, seconds=f"{receipt.retry_in:.1f}")
            return tell("failed", fault=fault)
        if usage is None:
            return tell("uncounted") if receipt.finish else tell("open")
        ratio = f"{usage.input / receipt.estimate:.2f}" if receipt.estimate else "?"
        return tell(
            "counted", real=tokens(usage.input), ratio=ratio, cached=tokens(usage.cached), output=tokens(usage.output)
        )

    def _picture(self, seen: Xray, receipt: Receipt) -> list[str]:
        chart, shown = self._chart, picture(receipt, seen.notes)
        rest = [("free", shown.free), ("reserve", shown.reserve), ("margin", shown.margin)]
        parts = [*((s.part, s.tokens) for s in shown.slices), *rest]
        whole = max(1, sum(amount for _, amount in parts))
        items = {s.part: s for s in shown.slices}
        rows = [(part, amount) for part, amount in parts if amount]
        names = {part: self._tell(f"part_{part}") for part, _ in rows}
        longest = min(max((width(name) for name in names.values()), default=0), self._cells - 18)
        lines = [f" {chart.bar(parts, self._cells - 2)}", ""]
        for part, amount in rows:
            figures = f"{tokens(amount):>8} {percent(amount, whole):>5}"
            line = f" {chart.mark(part)} {pad(clip(names[part], longest), longest)} {figures}"
            note = self._items(items[part]) if part in items else ""
            room = self._cells - longest - len(figures) - 6
            lines.append(f"{line}  {self.style.dim(clip(note, room))}" if note and room > 5 else line)
        if not receipt.detailed:
            lines += ["", *self._wrapped(self._tell("old"))]
        return lines

    def _items(self, slice: Slice) -> str:
        if slice.items < 2 and not slice.masked:
            return ""
        count = self._tell("item") if slice.items == 1 else self._tell("items", count=slice.items)
        return (
            self.speech("sum_joint").join([count, self._tell("masked", count=slice.masked)]) if slice.masked else count
        )

    def _held(self, seen: Xray, receipt: Receipt) -> list[str]:
        """With `verbose`, every block and unit in the order of the wire."""
        if not self.verbose or not receipt.included:
            return []
        rows = [
            [
                one_line(i.id),
                self._tell(f"part_{part_of(i, seen.notes)}"),
                tokens(i.tokens),
                self._tell("level_masked") if i.level == "masked" else "",
                one_line(seen.units.get(i.id, "")),
            ]
            for i in receipt.included
        ]
        if 0 < self.columns < NARROW:
            return [self._title("held_title"), *self._rows([[name, *rest] for name, _, *rest in rows], right=1)]
        return [self._title("held_title"), *self._rows(rows)]

    def _rows(self, rows: list[list[str]], right: int = 2) -> list[str]:
        return [f"  {line}" for line in table(rows, columns=max(0, self.columns - 2), right=(right,))]

    def _left(self, seen: Xray, receipt: Receipt) -> list[str]:
        if not receipt.detailed and not receipt.omitted:
            return []
        groups = left_out(receipt)
        if not groups:
            return [] if receipt.scope == "auxiliary" else self._wrapped(self._tell("left_nothing"))
        lines = [self._title("left_title")]
        names = [self._word(f"xray.left_{group.reason}", group.reason) for group in groups]
        longest = min(max(map(width, names)), self._cells - 18)
        for name, group in zip(names, groups, strict=True):
            figures = f"{group.count:>5} {tokens(group.tokens):>8}"
            start = f"  {pad(clip(name, longest), longest)} {figures}"
            room = self._cells - width(start) - 2
            lines.append(f"{start}  {self.style.dim(self._ids(group, room))}" if room > 12 else start)
        if self.verbose:
            lines += self._rows([self._gone(seen, item) for item in receipt.omitted])
        if any(group.reason in ("folded", "masked", "moved", "budget") for group in groups):
            lines += self._dim(self._tell("recall"))
        return lines

    def _gone(self, seen: Xray, item: Omitted) -> list[str]:
        reason = self._word(f"xray.left_{item.reason}", item.reason)
        name = seen.units.get(item.id.partition("..")[0], "")
        return [one_line(item.id), reason, tokens(item.tokens), one_line(name)]

    def _ids(self, group: Left, cells: int) -> str:
        """As many ids as fit, then how many more there are."""
        shown = ""
        for at, name in enumerate(group.ids):
            longer = f"{shown} {one_line(name)}".lstrip()
            left = len(group.ids) - at - 1
            rest = f" {self._tell('more', count=left)}" if left else ""
            if width(longer + rest) > cells:
                return f"{shown} {self._tell('more', count=left + 1)}" if shown else clip(longer, cells)
            shown = longer
        return shown

    def _rules(self, seen: Xray, receipt: Receipt) -> list[str]:
        rules = seen.rules_of(receipt)
        if not rules:
            known = receipt.detailed and receipt.scope != "auxiliary"
            return self._dim(self._tell("rules_none")) if known else []
        print_ = self._tell("rules_print", fingerprint=receipt.rules[:_HASH])
        narrow = 0 < self.columns < NARROW
        title = self._title("rules_title")
        lines = [title, *self._dim(f"  {print_}")] if narrow else [f"{title}  {self.style.dim(print_)}"]
        if narrow:
            for rule in rules:
                path, *facts, state = self._rule(rule)
                lines.append(f"  {clip(path, self._cells - 2)}")
                lines += [
                    f"    {self.style.dim(line)}" for line in wrap("  ".join(filter(None, facts)), self._cells - 4)
                ]
                lines += [f"    {self._paint(rule)(line)}" for line in wrap(state, self._cells - 4)]
        else:
            heads = [self._tell(f"head_{name}") for name in ("rule", "duty", "hash", "size", "carried")]
            drawn = table([heads, *map(self._rule, rules)], columns=max(0, self.columns - 2), right=(3,))
            lines += self._dim(f"  {drawn[0]}")
            lines += [f"  {self._paint(rule)(line)}" for rule, line in zip(rules, drawn[1:], strict=True)]
        return [*lines, *self._dim(self._tell("rules_said"))]

    def _rule(self, rule: RuleLine) -> list[str]:
        """Its path, duty, hash, tokens, and whether the request carried it."""
        reason = self._word(f"xray.left_{rule.reason}", rule.reason) if rule.reason else ""
        duty = self.speech(f"rules.duty_{rule.duty}")
        if not rule.said and rule.duty == "optional":
            duty += self.speech("labels.in_brackets", what=self.speech("rules.unclassified"))
        size = tokens(rule.tokens) if rule.tokens else ""
        return [
            one_line(rule.name),
            duty,
            rule.sha256[:_HASH],
            size,
            self._tell(f"state_{rule.state}", reason=reason),
        ]

    def _paint(self, rule: RuleLine) -> Callable[[str], str]:
        if rule.state in ("excluded", "waiting", "unknown"):
            return self.style.dim
        return self.style.green if rule.state == "delivered" else self.style.yellow

    def _folds(self, seen: Xray, receipt: Receipt) -> list[str]:
        if receipt.scope == "auxiliary" or not receipt.detailed:
            return []
        fold = seen.fold_of(receipt)
        if fold is None:
            return [] if receipt.epoch else self._wrapped(self._tell("epoch_first"))
        return [self._title("epoch_title"), *self.fold(fold)]

    def fold(self, fold: Fold) -> list[str]:
        """What one fold did."""
        event = fold.event
        reason = self._word(f"xray.fold_{event.reason}", event.reason)
        first = "epoch" if fold.request else "epoch_unsent"
        lines = [self._tell(first, epoch=event.epoch, request=fold.request, reason=reason)]
        rung = 2 if event.rung == 3 and not event.moved else event.rung
        rung = 1 if rung == 2 and not event.dropped else rung  # a step that was tried and found nothing did nothing
        did = self._word(f"xray.rung_{rung}", str(rung))
        before, after = tokens(event.before), tokens(event.after)
        lines.append(self._tell("epoch_did", before=before, after=after, rung=rung, what=did))
        counts = {"masked": len(event.masked), "dropped": len(event.dropped), "moved": len(event.moved)}
        lines += [self._tell("epoch_counts", **counts)] if any(counts.values()) else []
        lines += [self._tell("focus", focus=one_line(event.focus))] if event.focus else []
        return [f"  {line}" for text in lines for line in self._wrapped(text, 2)]

    # --- the cache ---

    def _cache(self, seen: Xray, receipt: Receipt) -> list[str]:
        lines = [self._title("cache_title")]
        if receipt.share is not None:
            share = percent(receipt.reused, receipt.raw)
            whole, raw = receipt.estimate, max(1, receipt.raw)  # in the measure of all other figures, calibrated
            reused = tokens(min(whole, receipt.reused * whole // raw))
            text = self._tell("cache_this", reused=reused, whole=tokens(whole), share=share)
            reason = self._broke(receipt.broke, receipt.fold)
            more = self._tell("cache_broke", reason=reason) if receipt.broke else self._tell("cache_whole")
            if receipt.broke == "first":
                more = ""
            lines += self._indented(self._tell("two", one=text, other=more).rstrip())
        return [*lines, *self._session(seen)] if len(seen.receipts) > 1 or len(lines) > 1 else []

    def _session(self, seen: Xray) -> list[str]:
        """Reuse over the whole session, a small chart of it, and where it broke."""
        summed = totals(seen.receipts)
        main = [r for r in seen.receipts if r.purpose == "main"]
        lines: list[str] = []
        if summed.main.share is not None:
            share = percent(summed.main.reused, summed.main.sent)
            lines += self._indented(self._tell("cache_session", share=share, sent=tokens(summed.main.sent)))
        lines += self._indented(self._real(summed.all)) if summed.all.usage.input else []
        values = [r.share for r in main]
        if len(main) > 1 and any(value is not None for value in values):
            room = self._cells - 4
            lines.append(f"  {self._chart.spark(values, room)}")
            lines += self._dim(f"  {self._tell('cache_spark')}")
        if summed.breaks:
            lines.append(f"  {self._tell('cache_breaks')}")
            shown = summed.breaks if self.verbose else summed.breaks[-5:]
            if len(shown) < len(summed.breaks):
                lines += self._dim(f"    {self._tell('earlier', count=len(summed.breaks) - len(shown))}")
            for broken in shown:
                reason = self._broke(broken.reason, broken.fold)
                text = self._tell("cache_break", number=broken.number, reason=reason, lost=tokens(broken.lost))
                lines += [f"    {line}" for line in self._wrapped(text, 4)]
        return lines

    def _real(self, line: Purpose) -> str:
        share = percent(line.usage.cached, line.usage.input)
        return self._tell("cache_real", share=share, input=tokens(line.usage.input))

    def _broke(self, reason: str, fold: str) -> str:
        word = self._word(f"xray.broke_{reason}", reason)
        if reason != "epoch" or not fold:
            return word
        return word + self.speech("labels.in_brackets", what=self._word(f"xray.fold_{fold}", fold))

    # --- sub-agents ---

    def _agents(self, seen: Xray) -> list[str]:
        if not seen.children:
            return []
        lines = [self._title("agents_title")]
        for child in seen.children:
            ended = child.finished
            status = self._tell("agent_running")
            if ended is not None:
                status = self._word(f"cli.status_{ended.status}", ended.status)
            used = [tokens(ended.usage.input + ended.usage.output)] if ended else []
            parts = [one_line(child.started.agent), child.started.session, status, *used]
            task = one_line(child.started.task)
            start = f"  {'  '.join(parts)}"
            room = self._cells - width(start) - 2
            lines.append(
                f"{start}  {self.style.dim(clip(task, room))}" if room > 10 and task else clip(start, self._cells)
            )
        return [*lines, *self._dim(self._tell("agent_hint"))]

    # --- the list ---

    def listing(self, seen: Xray) -> list[str]:
        """A line for each request, folds between them, and the cache over the session."""
        names = ("number", "tokens", "real", "reused", "ended", "purpose", "model")
        rows = [[self._tell(f"head_{name}") for name in names], *(self._row(receipt) for receipt in seen.receipts)]
        drawn = table(rows, columns=self.columns, right=(0, 1, 2, 3), spare=(4, 2), least=16)
        lines = [*self._dim(f"{seen.session}  {one_line(seen.title)}".rstrip()), self.style.dim(drawn[0])]
        folds = {fold.request: fold for fold in seen.folds}
        for receipt, line in zip(seen.receipts, drawn[1:], strict=True):
            fold = folds.get(receipt.number)
            lines += [self._between(fold)] if fold else []
            lines.append(self.style.red(line) if receipt.fault else line)
        lines += [self._between(fold) for fold in seen.folds if not fold.request]
        session = self._session(seen)
        lines += ["", self._title("cache_title"), *session] if session else []
        return [*lines, "", *self._dim(self._tell("list_hint"))]

    def _between(self, fold: Fold) -> str:
        event, rule = fold.event, "──" if self.symbols else "--"
        reason = self._word(f"xray.fold_{event.reason}", event.reason)
        before, after = tokens(event.before), tokens(event.after)
        text = self._tell("list_epoch", epoch=event.epoch, reason=reason, before=before, after=after)
        return self.style.cyan(clip(f"{rule} {text}", self.columns) if self.columns else f"{rule} {text}")

    def _row(self, receipt: Receipt) -> list[str]:
        ended = one_line(receipt.fault or receipt.finish) or self._tell("ended_open")
        return [
            str(receipt.number),
            tokens(receipt.estimate),
            tokens(receipt.usage.input) if receipt.usage else "-",
            percent(receipt.reused, receipt.raw) if receipt.share is not None else "-",
            ended,
            receipt.purpose,
            one_line(receipt.model),
        ]
