"""Why a call needs consent, and what a person is asked."""

TEXT = {
    "plan_only_reads": ("`plan` only reads: {about}", "`plan` 模式只读：{about}"),
    "protected_secret": ("{about} may hold secrets", "{about} 可能含有机密"),
    "protected_git": ("{about} belongs to git's own files", "{about} 属于 git 自己的文件"),
    "protected_startup": ("{about} runs when a shell starts", "{about} 会在 shell 启动时执行"),
    "protected_settings": ("{about} belongs to Gongfu's own settings", "{about} 属于 Gongfu 自己的设置"),
    "outside_read": ("{about} lies outside the workspace", "{about} 在工作区之外"),
    "outside_write": ("{about} lies outside the workspace", "{about} 在工作区之外"),
    "outside_command": ("the command would start outside the workspace", "该命令将在工作区之外启动"),
    "command": ("a command is to run", "将运行一条命令"),
    "write": ("a file is to be changed", "将修改文件"),
    "beyond_workspace": ("{about} reaches beyond the workspace", "{about} 会触及工作区之外"),
    "ask_tool": ("Allow {tool}? {reason}", "允许 {tool} 吗？{reason}"),
}
