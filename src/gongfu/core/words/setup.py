"""Sentences of setting up and checking: models, doctor, first steps, demo."""

from __future__ import annotations

TEXT: dict[str, tuple[str, str]] = {
    # --- models and doctor
    "head_model": ("MODEL", "模型"),
    "head_role": ("ROLE", "角色"),
    "head_window": ("WINDOW", "窗口"),
    "head_price": ("$ IN / OUT PER 1M", "每百万 输入/输出 $"),
    "head_found": ("FOUND", "来源"),
    "found_settings": ("settings", "设置"),
    "not_pulled": (
        "not here yet ({size}): gongfu models pull {name}",
        "尚未下载（{size}）：gongfu models pull {name}",
    ),
    "pull_size": ("{title}: {size} to fetch ({license})", "{title}：需下载 {size}（{license}）"),
    "pull_sure": ("Fetch it now?", "现在下载吗？"),
    "pulled": ("{name} is here: {path}", "{name} 已就绪：{path}"),
    "pulling": (
        "{done} of {total}  {percent}%  {rate}/s  {left} left",
        "{done} / {total}  {percent}%  {rate}/s  剩余 {left}",
    ),
    "check_python": ("Python", "Python"),
    "check_platform": ("Platform", "平台"),
    "check_terminal": ("Terminal", "终端"),
    "check_git": ("git", "git"),
    "check_rg": ("ripgrep", "ripgrep"),
    "check_home": ("Files", "文件"),
    "check_sizes": ("Sizes", "占用"),
    "check_settings": ("Settings", "设置"),
    "check_folder": ("Workspace", "工作区"),
    "check_model": ("Model", "模型"),
    "check_embedded": ("Embedded model", "内置模型"),
    "doctor_good": ("Everything that is needed is there.", "所需的一切都已就绪。"),
    "doctor_bad": ("Something that is needed does not work (✗).", "有必需的项目不可用（✗）。"),
    "terminal_ascii": (
        "{encoding} cannot show Chinese; such text is written as escapes",
        "{encoding} 无法显示中文；这类文字会以转义形式输出",
    ),
    "git_missing": (
        "not found; it is used to tell what belongs to a project",
        "未找到；它用于判断哪些文件属于项目",
    ),
    "rg_missing": ("not found; a slower search is used instead", "未找到；将使用较慢的搜索"),
    "home_readonly": ("{path} cannot be written", "{path} 不可写"),
    "home_free": ("{path}, {free} free", "{path}，剩余空间 {free}"),
    "size_store": ("sessions", "会话"),
    "size_artifacts": ("outputs", "输出"),
    "size_models": ("models", "模型"),
    "settings_none": ("none; defaults hold ({path} is not there)", "无，使用默认值（{path} 不存在）"),
    "model_window": ("{ref} (window {window})", "{ref}（窗口 {window}）"),
    "model_reachable": ("{address} answers", "{address} 有应答"),
    "model_unreachable": ("{address} cannot be reached {reason}", "无法连接 {address} {reason}"),
    "model_key_refused": (
        "{address} does not accept the key (HTTP {status})",
        "{address} 不接受该密钥（HTTP {status}）",
    ),
    "embedded_missing": (
        "{name} ({size}) is not here; it needs no key and does small jobs",
        "{name}（{size}）尚未下载；无需密钥，可做小任务",
    ),
    "embedded_no_runtime": ("the runtime xllamacpp is not installed", "未安装运行库 xllamacpp"),
    "salvaged": (
        "What could be read is in {path} again; the damaged file is {kept}.",
        "可读的内容已恢复到 {path}；损坏的文件保存在 {kept}。",
    ),
    # --- settings
    "default": ("default", "默认"),
    "nothing_set": (
        "Nothing is set; defaults hold. Settings go into {path}.",
        "没有任何设置，使用默认值。设置文件是 {path}。",
    ),
    "set": ("{name} is set in {path}", "已在 {path} 中设置 {name}"),
    "unset": ("{name} is at its default again", "{name} 已恢复默认"),
    "was_not_set": ("{name} was not set", "{name} 原本就没有设置"),
    "edited": ("{path} is changed; the earlier version is in the history", "{path} 已更改；旧版本保存在历史中"),
    "edit_kept": (
        "The settings were not changed. What you wrote is kept in {path}.",
        "设置没有更改。你写的内容保存在 {path}。",
    ),
    "no_history": ("The settings were never changed from here.", "还没有更改过设置。"),
    "model_none": ("none is configured, and none was found", "没有配置，也没有找到"),
}
