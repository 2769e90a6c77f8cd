"""Sentences about the sandbox."""

TEXT = {
    "kind_bwrap": ("bubblewrap", "bubblewrap"),
    "kind_landlock": ("Landlock", "Landlock"),
    "network_off": ("network off", "网络关闭"),
    "network_list": ("network to {hosts} only", "网络仅限 {hosts}"),
    "network_on": ("network on", "网络开放"),
    "status": ("sandbox: {kind}, {network}", "沙箱：{kind}，{network}"),
    "status_none": ("no sandbox: commands run with all your rights", "没有沙箱：命令以你的全部权限运行"),
    "status_full": (
        "no sandbox in mode full: commands run with all your rights",
        "full 模式没有沙箱：命令以你的全部权限运行",
    ),
    "status_refused": (
        "no sandbox, and one is required: commands are refused",
        "没有沙箱，而设置要求沙箱：命令会被拒绝",
    ),
    "detail": ("{kind}, {network}. {open}", "{kind}，{network}。{open}"),
    "none": ("none: commands run with all your rights. {why}", "无：命令以你的全部权限运行。{why}"),
    "none_required": (
        "none, and one is required: commands are refused. {why}",
        "无，而设置要求沙箱：命令会被拒绝。{why}",
    ),
    "none_off": ("Switched off in the settings.", "已在设置中关闭。"),
    "none_platform": ("There is one on Linux only, not on {reason}.", "只有 Linux 上有沙箱，{reason} 上没有。"),
    "none_no_bwrap": (
        "bubblewrap is not installed and the kernel has no Landlock.",
        "没有安装 bubblewrap，内核也不支持 Landlock。",
    ),
    "none_no_landlock": ("The kernel has no Landlock.", "内核不支持 Landlock。"),
    "none_bwrap_fails": (
        "bubblewrap does not work here ({reason}) and the kernel has no Landlock.",
        "bubblewrap 在这里不能用（{reason}），内核也不支持 Landlock。",
    ),
    "bwrap_open": (
        "Not covered: memory and processor use, the kernel's key rings, reading what is not hidden.",
        "未覆盖：内存和处理器的使用、内核密钥环、未被隐藏内容的读取。",
    ),
    "partial": (
        "The workspace is too large to look for secrets everywhere: those in deep folders may be read by commands.",
        "工作区太大，无法处处查找机密：深层文件夹里的机密可能被命令读到。",
    ),
    "landlock_open": (
        "Not covered: UDP, sockets that lie in folders, other people's processes being seen, names of hidden files, modes and owners of files, .git/config and hooks, a daemon that clears its environment.",
        "未覆盖：UDP、文件夹中的套接字、可见其他进程、隐藏文件的名称、文件的权限和属主、.git/config 和钩子、清空了自身环境的守护进程。",
    ),
    "landlock_old": (
        "This kernel's Landlock is old. Not covered: signals, abstract sockets, UDP (before 6.7 the whole network), sockets that lie in folders, names of hidden files, modes and owners of files, .git/config and hooks.",
        "此内核的 Landlock 较旧。未覆盖：信号、抽象套接字、UDP（6.7 之前为整个网络）、文件夹中的套接字、隐藏文件的名称、文件的权限和属主、.git/config 和钩子。",
    ),
    "landlock_service": (
        "It cannot keep commands from {path}, through which they can do anything: nothing counts as covered.",
        "它无法阻止命令访问 {path}，通过它命令可以做任何事：视为没有任何覆盖。",
    ),
}
