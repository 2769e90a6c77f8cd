"""Sentences on project rules."""

_KEPT = "Nothing was sent, no tool ran, and the history is kept."
_KEPT_ZH = "没有发送任何内容，没有运行任何工具，历史保留不变。"
_EXCLUDE = "or exclude it: `gongfu rules classify PATH excluded`"
_EXCLUDE_ZH = "或将其排除：`gongfu rules classify PATH excluded`"

TEXT = {
    "exceed_budget": (
        "RULES_EXCEED_BUDGET: the mandatory rules take about {tokens:,} tokens, and {allowed:,} of {budget:,} are set aside for them: {rules}. "
        + _KEPT
        + " Shorten them, narrow them with `paths:`, make some optional with `gongfu rules classify`, raise `context.rules_share`, or use a model with a larger window.",
        "RULES_EXCEED_BUDGET：必须遵守的规则约需 {tokens:,} 个 token，而 {budget:,} 中只为其预留 {allowed:,}：{rules}。"
        + _KEPT_ZH
        + "请缩短规则、用 `paths:` 限定范围、用 `gongfu rules classify` 将部分设为可选、调高 `context.rules_share`，或换用窗口更大的模型。",
    ),
    "limit_size": (
        "RULES_LIMIT: larger than the {limit} KiB that one rule file may have: {files}. "
        + _KEPT
        + " Split it, "
        + _EXCLUDE
        + ".",
        "RULES_LIMIT：超过单个规则文件的上限 {limit} KiB：{files}。" + _KEPT_ZH + "请拆分，" + _EXCLUDE_ZH + "。",
    ),
    "limit_depth": (
        "RULES_LIMIT: rule files more than 32 folders below the root: {files}. "
        + _KEPT
        + " Move it up, "
        + _EXCLUDE
        + ".",
        "RULES_LIMIT：规则文件位于根目录下超过 32 层：{files}。" + _KEPT_ZH + "请上移，" + _EXCLUDE_ZH + "。",
    ),
    "limit_link": (
        "RULES_LIMIT: a rule file must be a file of its own and no link: {files}. "
        + _KEPT
        + " Put a copy in its place, "
        + _EXCLUDE
        + ".",
        "RULES_LIMIT：规则文件必须是独立文件，不能是链接：{files}。" + _KEPT_ZH + "请换成副本，" + _EXCLUDE_ZH + "。",
    ),
    "limit_nul": (
        "RULES_LIMIT: there are NUL bytes in {files}, so it is no text. " + _KEPT + " Mend it, " + _EXCLUDE + ".",
        "RULES_LIMIT：{files} 含有 NUL 字节，不是文本。" + _KEPT_ZH + "请修复，" + _EXCLUDE_ZH + "。",
    ),
    "limit_encoding": (
        "RULES_LIMIT: no UTF-8: {files}. " + _KEPT + " Save it as UTF-8, " + _EXCLUDE + ".",
        "RULES_LIMIT：不是 UTF-8 编码：{files}。" + _KEPT_ZH + "请另存为 UTF-8，" + _EXCLUDE_ZH + "。",
    ),
    "limit_special": (
        "RULES_LIMIT: no regular file: {files}. " + _KEPT + " Put a text file in its place, " + _EXCLUDE + ".",
        "RULES_LIMIT：不是普通文件：{files}。" + _KEPT_ZH + "请换成文本文件，" + _EXCLUDE_ZH + "。",
    ),
    "limit_unreadable": (
        "RULES_LIMIT: cannot be read: {files}. " + _KEPT + " Make it readable, " + _EXCLUDE + ".",
        "RULES_LIMIT：无法读取：{files}。" + _KEPT_ZH + "请使其可读，" + _EXCLUDE_ZH + "。",
    ),
    "limit_files": (
        "RULES_LIMIT: {count} rule files, and {limit} is the most; beyond it: {files}. "
        + _KEPT
        + " Join some, "
        + _EXCLUDE
        + " (PATH may be a pattern such as 'vendor/**').",
        "RULES_LIMIT：共有 {count} 个规则文件，上限为 {limit} 个；超出的有：{files}。"
        + _KEPT_ZH
        + "请合并一些，"
        + _EXCLUDE_ZH
        + "（PATH 可以是 'vendor/**' 这样的模式）。",
    ),
    "limit_total": (
        "RULES_LIMIT: the rule files have {size} KiB in all, and {limit} is the most; beyond it: {files}. "
        + _KEPT
        + " Shorten some, "
        + _EXCLUDE
        + ".",
        "RULES_LIMIT：规则文件共 {size} KiB，上限为 {limit} KiB；超出的有：{files}。"
        + _KEPT_ZH
        + "请缩短一些，"
        + _EXCLUDE_ZH
        + "。",
    ),
    "snapshot_corrupt": (
        "SNAPSHOT_CORRUPT: the rules that this session was pinned to are not what was recorded ({what}). "
        + _KEPT
        + " `gongfu rules refresh` pins those on disk after your review.",
        "SNAPSHOT_CORRUPT：本会话固定的规则与记录不符（{what}）。"
        + _KEPT_ZH
        + "`gongfu rules refresh` 会在你确认后固定磁盘上的规则。",
    ),
    "not_delivered": (
        "RULES_NOT_DELIVERED: the request would carry {rule} {count} times instead of as it must. "
        + _KEPT
        + " Please report this; `gongfu rules show` tells what is configured.",
        "RULES_NOT_DELIVERED：请求中规则 {rule} 出现了 {count} 次，与要求不符。"
        + _KEPT_ZH
        + "请报告此问题；`gongfu rules show` 可查看配置。",
    ),
    "origin_mismatch": (
        "TOOL_ORIGIN_MISMATCH: the call was made under rules {found} and {pinned} hold now, so it did not run. "
        "The history is kept; go on, and the model decides anew.",
        "TOOL_ORIGIN_MISMATCH：该调用是在规则 {found} 下作出的，而现在生效的是 {pinned}，因此没有运行。历史保留不变；继续即可由模型重新决定。",
    ),
    "changed_running": (
        "RULES_CHANGED: a turn is running under the pinned rules, so they cannot be changed now. Nothing was changed; refresh when it has ended.",
        "RULES_CHANGED：有一轮正在按已固定的规则运行，现在不能更改。没有改动任何内容；请等它结束后再刷新。",
    ),
    "refresh_stale_pinned": (
        "REFRESH_STALE: the session is pinned to {pinned}, not to {named}. Nothing was changed; review again with `gongfu rules refresh`.",
        "REFRESH_STALE：会话固定的是 {pinned}，而不是 {named}。没有改动任何内容；请用 `gongfu rules refresh` 重新查看。",
    ),
    "refresh_stale_live": (
        "REFRESH_STALE: the rules on disk are {live} now, not {named} as reviewed. Nothing was changed; review again with `gongfu rules refresh`.",
        "REFRESH_STALE：磁盘上的规则现为 {live}，而不是查看时的 {named}。没有改动任何内容；请用 `gongfu rules refresh` 重新查看。",
    ),
    "bad_paths": (
        "`paths:` in {file} is no list of patterns.",
        "{file} 中的 `paths:` 不是模式列表。",
    ),
    "outgrown": (
        "Changed since you classified it, so it counts as unclassified now: {rules}. `gongfu rules classify` says what holds of the new text.",
        "分类之后内容已变，现按未分类处理：{rules}。请用 `gongfu rules classify` 对新内容重新分类。",
    ),
    "told_walk": (
        "The project is large: not all of its folders were searched for rule files. Those of the folder you work in and above it are all there.",
        "项目很大：未能在所有文件夹中查找规则文件。当前工作文件夹及其上层的规则均已找到。",
    ),
    "told_front_matter": (
        "The front matter could not be read, so the rule holds everywhere: {rules}.",
        "无法读取文件头，规则按处处适用处理：{rules}。",
    ),
    "no_rule": (
        "There is no rule file {path} here. Nothing was changed; there are: {known}.",
        "这里没有规则文件 {path}。没有改动任何内容；现有：{known}。",
    ),
    "no_rule_empty": ("{path} is empty, so there is nothing to classify.", "{path} 是空文件，无需分类。"),
    "no_rule_same": (
        "{path} says what AGENTS.md beside it says, and that is delivered once. Classify AGENTS.md instead.",
        "{path} 与同一文件夹的 AGENTS.md 内容相同，只发送一次。请对 AGENTS.md 分类。",
    ),
    "only_excluded": (
        "{path} cannot be a rule as it is, so it can only be excluded. Nothing was changed.",
        "{path} 目前不能作为规则，只能排除。没有改动任何内容。",
    ),
    "no_section": (
        "There is no section {heading!r} in {path}. Nothing was changed; there are: {known}.",
        "{path} 中没有小节 {heading!r}。没有改动任何内容；现有：{known}。",
    ),
    "sections_ambiguous": (
        "Several sections of {path} are called {heading!r}. Nothing was changed; name one in full: {known}.",
        "{path} 中有多个小节名为 {heading!r}。没有改动任何内容；请写全名：{known}。",
    ),
    "why_excluded": (
        "--why belongs to `excluded` only. Nothing was changed.",
        "--why 只能与 `excluded` 一起使用。没有改动任何内容。",
    ),
    # --- `gongfu rules`
    "duty_mandatory": ("mandatory", "必须"),
    "duty_optional": ("optional", "可选"),
    "duty_excluded": ("excluded", "排除"),
    "why_superseded": ("superseded", "已被取代"),
    "why_not_applicable": ("not applicable", "不适用"),
    "why_withdrawn": ("withdrawn", "已撤回"),
    "unclassified": ("unclassified", "未分类"),
    "changed_was": ("changed since it was {duty}", "内容已变，原为{duty}"),
    "head_configured": ("CONFIGURED", "已配置"),
    "head_delivered": ("DELIVERED", "已送达"),
    "head_tokens": ("TOKENS", "TOKEN"),
    "head_hash": ("HASH", "哈希"),
    "head_scope": ("SCOPE", "范围"),
    "head_rule": ("RULE", "规则"),
    "title_session": (
        "Rules of session {session}: revision {revision}, fingerprint {fingerprint} ({by})",
        "会话 {session} 的规则：第 {revision} 版，指纹 {fingerprint}（{by}）",
    ),
    "title_disk": (
        "Rules that a new session is pinned to: fingerprint {fingerprint}",
        "新会话将固定的规则：指纹 {fingerprint}",
    ),
    "by_start": ("start of the session", "会话开始时"),
    "by_first_run": ("first run", "首次运行"),
    "by_classify": ("`gongfu rules classify`", "`gongfu rules classify`"),
    "by_refresh": ("refresh", "刷新"),
    "not_yet": ("not yet", "尚未"),
    "never": ("never", "从不"),
    "joins": ("joins when touched", "触及时加入"),
    "ignored_empty": ("Ignored: {path} (empty)", "已忽略：{path}（空文件）"),
    "ignored_same": (
        "Ignored: {path} (says what AGENTS.md beside it says)",
        "已忽略：{path}（与同文件夹的 AGENTS.md 相同）",
    ),
    "ignored_excluded": (
        "Ignored: {path} (excluded, and no rule as it is)",
        "已忽略：{path}（已排除，且不能作为规则）",
    ),
    "ignored_front_matter": ("Front matter ignored: {path} (it could not be read)", "已忽略文件头：{path}（无法读取）"),
    "ignored_walk": ("Not all folders below {path} were searched for rules", "{path} 下的文件夹未能全部查找"),
    "conflict": (
        "Both speak under the same heading: {stronger} and {weaker}; the former is nearer and wins",
        "两者有相同的标题：{stronger} 与 {weaker}；前者更近，以其为准",
    ),
    "differs": (
        "The rules on disk are others by now ({live}); `gongfu rules refresh {session}` shows the difference",
        "磁盘上的规则已不同（{live}）；`gongfu rules refresh {session}` 可查看差异",
    ),
    "other": (
        "Session {session} is pinned to other rules: `gongfu rules show {session}`",
        "会话 {session} 固定的是另一组规则：`gongfu rules show {session}`",
    ),
    "legend": (
        "Configured is what you decided, delivered is what requests carried. Whether a model follows a rule is not known.",
        "“已配置”是你的决定，“已送达”是请求中实际携带的内容。模型是否遵守规则无从得知。",
    ),
    "none": (
        "There are no rule files here (AGENTS.md, CLAUDE.md, .gongfu/rules/*.md).",
        "这里没有规则文件（AGENTS.md、CLAUDE.md、.gongfu/rules/*.md）。",
    ),
    "none_session": ("No rules were pinned to this session.", "本会话没有固定任何规则。"),
    "no_history": ("Nothing was said of the rules here yet.", "这里还没有关于规则的记录。"),
    "revision": (
        "{when}  revision {revision}  {fingerprint}  {count} files  ({by})",
        "{when}  第 {revision} 版  {fingerprint}  {count} 个文件（{by}）",
    ),
    "classified": ("{rule} is {duty} (text {hash})", "{rule}：{duty}（内容 {hash}）"),
    "classified_note": (
        "It holds for new sessions until the text changes. `gongfu rules refresh` brings it to a session that exists.",
        "对新会话生效，直到内容改变。已有会话请用 `gongfu rules refresh`。",
    ),
    "change_added": ("added", "新增"),
    "change_changed": ("changed", "已改"),
    "change_removed": ("removed", "已删"),
    "change_classified": ("classified", "重新分类"),
    "refresh_same": (
        "Session {session} is pinned to what lies on disk ({fingerprint}). Nothing to refresh.",
        "会话 {session} 固定的规则与磁盘一致（{fingerprint}），无需刷新。",
    ),
    "refresh_title": (
        "Session {session}: pinned {old}, on disk {new}",
        "会话 {session}：已固定 {old}，磁盘上为 {new}",
    ),
    "corrupt": (
        "The rules that session {session} was pinned to are damaged in the store, so it sends nothing. `gongfu rules refresh {session}` pins those on disk.",
        "会话 {session} 固定的规则在存储中已损坏，因此不会发送任何请求。`gongfu rules refresh {session}` 可固定磁盘上的规则。",
    ),
    "keep_hint": (
        "Changed texts count as unclassified: {rules}. `--keep-duties` gives them the duty of the earlier text.",
        "已改的内容按未分类处理：{rules}。`--keep-duties` 可沿用原来的分类。",
    ),
    "refresh_sure": ("Replace the pinned rules {old} by {new}?", "用 {new} 替换已固定的规则 {old}？"),
    "refreshed": (
        "Session {session} is pinned to {new} now (revision {revision}). It holds from the next request on.",
        "会话 {session} 现固定为 {new}（第 {revision} 版），从下一个请求起生效。",
    ),
    "refresh_how": ("Nothing was changed. To take it: {command}", "没有改动任何内容。确认请运行：{command}"),
    "bad_fingerprints": (
        "{given!r} does not name two fingerprints; write OLD:NEW as `gongfu rules refresh` shows them. Nothing was changed.",
        "{given!r} 不是两个指纹；请按 `gongfu rules refresh` 显示的写成 OLD:NEW。没有改动任何内容。",
    ),
    # --- the first run in a project
    "question": (
        "This project has rules for agents: {rules} (about {tokens:,} tokens). Which must every request carry? When such a rule cannot be carried, nothing is sent.",
        "本项目有面向智能体的规则：{rules}（约 {tokens:,} 个 token）。哪些必须随每个请求送达？这样的规则无法送达时，不发送任何内容。",
    ),
    "answer_mandatory-root": ("those at the root of the project", "项目根目录下的规则"),
    "answer_mandatory-all": ("all of them", "全部规则"),
    "answer_optional": ("none; carry them while there is room", "都不必须，有空间时携带"),
    "bad_policy": (
        "{wanted!r} is no word on rules; there are mandatory-root, mandatory-all and optional.",
        "{wanted!r} 不是规则选项；可用的有 mandatory-root、mandatory-all 和 optional。",
    ),
    "left_out": (
        "Optional rules may take a tenth of the room, and these did not fit: {rules} ({tokens:,} tokens). `gongfu rules classify PATH mandatory` makes one mandatory.",
        "可选规则最多占十分之一的空间，这些放不下，已略去：{rules}（{tokens:,} 个 token）。用 `gongfu rules classify PATH mandatory` 可设为必须。",
    ),
}
