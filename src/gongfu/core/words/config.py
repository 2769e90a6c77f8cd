"""Sentences of settings and places."""

TEXT: dict[str, tuple[str, str]] = {
    "no_home": (
        "The folder {path} cannot be made: {reason}. Make it writable, or name another one in GONGFU_HOME.",
        "无法创建文件夹 {path}：{reason}。请让它可写，或用 GONGFU_HOME 指定另一个文件夹。",
    ),
    "home_unknown": (
        "Your home directory is not known. Set GONGFU_HOME to a folder where Gongfu may keep its files.",
        "不知道你的主目录在哪里。请用 GONGFU_HOME 指定一个让 Gongfu 存放文件的文件夹。",
    ),
    "whole_list": (
        "{name} stands in a list, which is set as a whole: `gongfu config set {whole} '[…]'`. Nothing was changed.",
        "{name} 位于列表中，列表须整体设置：`gongfu config set {whole} '[…]'`。没有做任何改动。",
    ),
    "bad_yaml": (
        "{file}, line {line}, column {column}: this is no valid YAML: {reason}. Nothing of the file was used; mend the line.",
        "{file} 第 {line} 行第 {column} 列：不是有效的 YAML：{reason}。该文件没有被使用，请修正这一行。",
    ),
    "too_deep": (
        "{file}: the file is nested too deeply or too large. Nothing of it was used; make it simpler.",
        "{file}：文件嵌套过深或过大。该文件没有被使用，请简化。",
    ),
    "no_mapping": (
        "{file}, line {line}, column {column}: settings are written as `key: value`. Nothing of the file was used.",
        "{file} 第 {line} 行第 {column} 列：设置应写成 `键: 值`。该文件没有被使用。",
    ),
    "bad_key": (
        "{file}, line {line}, column {column}: a key must be a plain word. Nothing of the file was used.",
        "{file} 第 {line} 行第 {column} 列：键必须是普通文字。该文件没有被使用。",
    ),
    "duplicate": (
        "{file}, line {line}, column {column}: {name} is already set in line {first}. Nothing of the file was used;"
        " remove one of the two.",
        "{file} 第 {line} 行第 {column} 列：{name} 已在第 {first} 行设置。该文件没有被使用，请删除其中一个。",
    ),
    "unknown_key": (
        "{file}, line {line}, column {column}: there is no setting {name}. Did you mean {near}?",
        "{file} 第 {line} 行第 {column} 列：没有设置 {name}。你是不是指 {near}？",
    ),
    "unknown_key_none": (
        "{file}, line {line}, column {column}: there is no setting {name}. Known here: {known}.",
        "{file} 第 {line} 行第 {column} 列：没有设置 {name}。这里可用：{known}。",
    ),
    "wrong_type": (
        "{file}, line {line}, column {column}: {name} must be {wanted}, not {found}.",
        "{file} 第 {line} 行第 {column} 列：{name} 应为 {wanted}，而不是 {found}。",
    ),
    "no_variable": (
        "{file}, line {line}, column {column}: {name} needs the environment variable {variable}, which is not set."
        " Set it, or remove the line.",
        "{file} 第 {line} 行第 {column} 列：{name} 需要环境变量 {variable}，但它没有设置。请设置它，或删除这一行。",
    ),
    "bad_reference": (
        "{file}, line {line}, column {column}: {name} has {variable!r}, which names no variable."
        " Write ${{NAME}}, or $${{ for a plain ${{.",
        "{file} 第 {line} 行第 {column} 列：{name} 中的 {variable!r} 不是变量名。请写成 ${{NAME}}；若要普通的 ${{，请写 $${{。",
    ),
    "unreadable": (
        "{file} cannot be read: {reason}. Nothing was changed; make it readable.",
        "无法读取 {file}：{reason}。没有任何改动，请让它可读。",
    ),
    "not_utf8": (
        "{file}, line {line}, column {column}: the file is not written in UTF-8. Nothing of it was used; save it as UTF-8.",
        "{file} 第 {line} 行第 {column} 列：文件不是 UTF-8 编码。该文件没有被使用，请另存为 UTF-8。",
    ),
    "not_written": (
        "{file} cannot be written: {reason}. The file is as it was.",
        "无法写入 {file}：{reason}。文件保持原样。",
    ),
    "no_name": (
        "{name!r} is no name of a configuration: use letters, digits, - and _. Configurations lie in {folder}.",
        "{name!r} 不是配置名称：请使用字母、数字、- 和 _。配置位于 {folder}。",
    ),
    "unknown_name": (
        "There is no configuration {name} in {folder}. There are: {known}.",
        "{folder} 中没有配置 {name}。现有：{known}。",
    ),
    "unknown_name_none": (
        "There is no configuration {name}: {folder} holds none yet.",
        "没有配置 {name}：{folder} 中还没有任何配置。",
    ),
    "wrong_given": (
        "{origin} must be {wanted}, not {found}.",
        "{origin} 应为 {wanted}，而不是 {found}。",
    ),
    "unfit": (
        "The settings do not fit together: {reason}.",
        "设置不一致：{reason}。",
    ),
    "project_untrusted": (
        "{file} is not used: this folder is not trusted.",
        "没有使用 {file}：此文件夹未被信任。",
    ),
    "project_loosens": (
        "{file}: {name} is not taken, because a project may only make it stricter.",
        "{file}：没有采用 {name}，因为项目只能使其更严格。",
    ),
    "project_key": (
        "{file}: {name} is not taken, because a project may not say where something from your environment is sent."
        " Write the provider into your own settings if you want it.",
        "{file}：没有采用 {name}，因为项目不能决定把你环境中的内容发送到哪里。若需要，请把该提供方写进你自己的设置。",
    ),
    "project_changed": (
        "{file} is not used: it changed while it was read. Run again to be asked about it.",
        "没有使用 {file}：读取时它发生了变化。请重新运行，届时会询问你。",
    ),
    "readable": (
        "Others on this machine can read {file}, which holds keys: `chmod 600` it, or write ${{VARIABLE}} in their place.",
        "本机其他用户可以读取含有密钥的 {file}：请执行 `chmod 600`，或改写为 ${{VARIABLE}}。",
    ),
    "not_set": (
        "{name} is not set. `gongfu config set {name} VALUE` sets it.",
        "{name} 没有设置。可用 `gongfu config set {name} 值` 设置。",
    ),
    "no_setting_name": (
        "{name!r} is no name of a setting. Write it with dots, and names that have dots in quotes:"
        ' model_settings."openai/gpt-4.1".window.',
        '{name!r} 不是设置的名称。请用点分隔，含点的名称放在引号里：model_settings."openai/gpt-4.1".window。',
    ),
    "unknown_setting": (
        "There is no setting {name}. Did you mean {near}?",
        "没有设置 {name}。你是不是指 {near}？",
    ),
    "unknown_setting_none": (
        "There is no setting {name}. `gongfu config list --all` shows all.",
        "没有设置 {name}。`gongfu config list --all` 列出全部设置。",
    ),
    "bad_value": (
        "The value of {name} is no valid YAML: {reason}. Nothing was written.",
        "{name} 的值不是有效的 YAML：{reason}。没有写入任何内容。",
    ),
    "not_editable": (
        "{file} is written in a way that cannot be changed safely here. Nothing was written; edit the file by hand.",
        "{file} 的写法无法在这里安全修改。没有写入任何内容，请手动编辑该文件。",
    ),
    "locked": (
        "{file} is being changed by another process. Nothing was written; try again, or remove {lock}.",
        "{file} 正在被另一个进程修改。没有写入任何内容；请重试，或删除 {lock}。",
    ),
    "no_file": (
        "There is no file {file}.",
        "没有文件 {file}。",
    ),
    "nothing_to_import": (
        "Nothing was taken over from {file}: it names no model with an address or a key. Nothing was written.",
        "没有从 {file} 导入任何内容：其中没有带地址或密钥的模型。没有写入任何内容。",
    ),
    "not_imported": (
        "{file} cannot be taken over as it is. {reason} Nothing was written.",
        "无法直接导入 {file}。{reason} 没有写入任何内容。",
    ),
}
