"""The sentences around the tables of docs/configuration.md and docs/zh/configuration.md."""

TEXT: dict[str, tuple[str, str]] = {
    "title": ("# Configuration", "# 配置"),
    "generated": (
        "This page is generated from the types by `scripts/generate_docs.py`; do not edit it.",
        "本页由 `scripts/generate_docs.py` 根据类型生成，请勿手动编辑。",
    ),
    "files_title": ("## Files", "## 文件"),
    "files": (
        "Settings come from these places; a later one wins:\n\n"
        "1. the defaults;\n"
        "2. `~/.gongfu/config.yaml` (or `config.yaml` in the folder that `GONGFU_HOME` names); `--config NAME` takes\n"
        "   `~/.gongfu/configs/NAME.yaml` in its place;\n"
        "3. `<project>/.gongfu/config.yaml` of a [trusted](trust.md) project. It may make permissions, the sandbox and\n"
        "   `limits` stricter and add hooks, never the other way round, and a provider it defines replaces yours of the\n"
        "   same name as a whole, so that no key of yours goes to its address;\n"
        "4. environment variables;\n"
        "5. flags of the command line.\n\n"
        "A key that is not known, a wrong type, a key given twice and bad YAML are errors with file, line and column.",
        "设置来自以下位置，后者优先：\n\n"
        "1. 默认值；\n"
        "2. `~/.gongfu/config.yaml`（或 `GONGFU_HOME` 所指文件夹中的 `config.yaml`）；`--config 名称` 改用\n"
        "   `~/.gongfu/configs/名称.yaml`；\n"
        "3. [受信任](trust.md)项目的 `<项目>/.gongfu/config.yaml`。它只能收紧权限、沙箱和 `limits` 并添加钩子，不能放宽；\n"
        "   它定义的服务端点会整体替换你的同名端点，因此你的密钥不会发往它的地址；\n"
        "4. 环境变量；\n"
        "5. 命令行参数。\n\n"
        "未知的键、错误的类型、重复的键和无效的 YAML 都会报错，并给出文件、行和列。",
    ),
    "references": (
        "A value may be or contain `${{NAME}}`, which the environment variable of that name replaces; a variable that is\n"
        "not set is an error. `$${{` stands for a plain `${{`.",
        "值可以是或包含 `${{名称}}`，它会被同名环境变量替换；变量没有设置时会报错。`$${{` 表示普通的 `${{`。",
    ),
    "changing_title": ("## Changing settings", "## 修改设置"),
    "changing": (
        "`gongfu config set limits.max_steps 80` changes one setting and leaves every other byte of the file as it was,\n"
        "comments and order too. The file gets mode 0600, and the earlier version goes into `~/.gongfu/history`. Names\n"
        'with dots may stand in quotes: `model_settings."openai/gpt-4.1".window`. `gongfu config unset NAME` takes a\n'
        "setting out, `gongfu config schema` prints a JSON Schema for editors, and `gongfu init --from FILE` takes over\n"
        "a configuration of tea_agent.",
        "`gongfu config set limits.max_steps 80` 修改一项设置，文件的其余每个字节都保持原样，包括注释和顺序。\n"
        "文件权限为 0600，旧版本保存在 `~/.gongfu/history`。含点的名称可以放在引号里：\n"
        '`model_settings."openai/gpt-4.1".window`。`gongfu config unset 名称` 移除一项设置，`gongfu config schema`\n'
        "输出供编辑器使用的 JSON Schema，`gongfu init --from 文件` 导入 tea_agent 的配置。",
    ),
    "example_title": ("## Example", "## 示例"),
    "settings_title": ("## Settings", "## 设置"),
    "variables_title": ("## Environment variables", "## 环境变量"),
    "window": (
        "window of the main models: `model_settings.NAME.window`",
        "主模型的窗口：`model_settings.NAME.window`",
    ),
    "labels": (
        "`context.tool_use_summaries`: 0, 1, true or false",
        "`context.tool_use_summaries`：0、1、true 或 false",
    ),
    "home": ("the folder where Gongfu keeps its files", "Gongfu 存放文件的文件夹"),
    "table": ("| setting | value | default | meaning |", "| 设置 | 值 | 默认 | 含义 |"),
    "variables_table": ("| variable | sets |", "| 变量 | 设置 |"),
}
