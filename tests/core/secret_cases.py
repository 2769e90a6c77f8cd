"""Secrets of every shape, and what only looks like one. No line of this file holds a secret: they are put together."""

from __future__ import annotations

import random
import string

LOWER = string.ascii_lowercase + string.digits
MIXED = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = MIXED + "_-"
BASE64 = MIXED + "+/"


def some(length: int, letters: str = MIXED, seed: int = 7) -> str:
    """Letters without a meaning, among them a digit and a letter near the beginning."""
    chance = random.Random(f"{seed} {length} {letters}")
    text = "".join(chance.choice(letters) for _ in range(length - 3))
    body = letters.replace("-", "").replace("_", "")
    return f"{chance.choice(body)}7{text}{chance.choice(body)}" if length > 3 else text + "a7b"


def pem(kind: str, seed: int = 7, lines: int = 6) -> str:
    """A private key in a block."""
    dashes = "-" * 5
    head, tail = (f"{dashes}{word} {kind}{dashes}" for word in ("BEGIN", "END"))
    body = "\n".join(some(64, BASE64, seed + n) for n in range(lines))
    return f"{head}\n{body}\n{tail}"


def shapes(seed: int = 7) -> list[tuple[str, str, str]]:
    """(what it is, the secret, a text with it in place of {})."""

    def a(length: int, letters: str = MIXED) -> str:
        return some(length, letters, seed)

    word = "Hunter" + a(6)
    jwt = f"ey{'J'}{a(20)}.ey{'J'}{a(40)}.{a(43, URLSAFE)}"
    return [
        # keys of models
        ("OpenAI", "sk" + "-" + a(48), "{}"),
        ("OpenAI project", "sk" + "-proj-" + a(60, URLSAFE), "{}"),
        ("OpenAI service account", "sk" + "-svcacct-" + a(60, URLSAFE), "{}"),
        ("Anthropic", "sk" + "-ant-api03-" + a(90, URLSAFE), "{}"),
        ("OpenRouter", "sk" + "-or-v1-" + a(64, HEX), "{}"),
        ("DashScope, DeepSeek", "sk" + "-" + a(32, HEX), "{}"),
        ("Moonshot", "sk" + "-" + a(48), "{}"),
        ("Zhipu", a(16), f"{a(32, HEX)}.{{}}"),
        ("Google", "AI" + "za" + a(35, URLSAFE), "{}"),
        ("Hugging Face", "hf" + "_" + a(34), "{}"),
        ("Groq", "gsk" + "_" + a(52), "{}"),
        ("xAI", "xai" + "-" + a(80), "{}"),
        ("NVIDIA", "nvapi" + "-" + a(64, URLSAFE), "{}"),
        ("Perplexity", "pplx" + "-" + a(48), "{}"),
        ("Replicate", "r8" + "_" + a(37), "{}"),
        # forges and registries
        ("GitHub personal", "gh" + "p_" + a(36), "{}"),
        ("GitHub OAuth", "gh" + "o_" + a(36), "{}"),
        ("GitHub server", "gh" + "s_" + a(36), "{}"),
        ("GitHub fine-grained", "github" + "_pat_" + a(22) + "_" + a(59), "{}"),
        ("GitLab", "gl" + "pat-" + a(20, URLSAFE), "{}"),
        ("npm", "npm" + "_" + a(36), "{}"),
        ("PyPI", "pypi" + "-AgE" + "IcHlwaS5vcmc" + a(80, URLSAFE), "{}"),
        ("RubyGems", "rubygems" + "_" + a(48, HEX), "{}"),
        ("Docker Hub", "dckr" + "_pat_" + a(27, URLSAFE), "{}"),
        # clouds
        ("AWS key id", "AK" + "IA" + a(16, UPPER), "{}"),
        ("AWS temporary key id", "AS" + "IA" + a(16, UPPER), "{}"),
        ("AWS secret key", a(40, BASE64), "aws_secret_access_key = {}"),
        ("AWS session token", a(200, BASE64), "AWS_SESSION_TOKEN={}"),
        ("Google OAuth", "ya" + "29." + a(60, URLSAFE), "{}"),
        ("Google client secret", "GOC" + "SPX-" + a(28, URLSAFE), "{}"),
        ("GCP service account", pem("PRIVATE KEY", seed).replace("\n", "\\n"), '{{"private_key": "{}\\n", "type": 1}}'),
        ("Azure storage", a(86, BASE64) + "==", "AccountName=x;Account" + "Key={};EndpointSuffix=core.windows.net"),
        ("Azure SAS", a(43) + "%3D", "https://x.blob.core.windows.net/c?sv=2022-11-02&sig={}&se=2030"),
        ("DigitalOcean", "dop" + "_v1_" + a(64, HEX), "{}"),
        ("Databricks", "da" + "pi" + a(32, HEX), "{}"),
        ("Terraform", a(60, URLSAFE), f"{a(14)}.atlas" + "v1.{}"),
        ("Vault", "hv" + "s." + a(90, URLSAFE), "{}"),
        ("Tailscale", "ts" + "key-auth-" + a(30), "{}"),
        # services
        ("Slack bot", "xo" + "xb-" + a(12, string.digits) + "-" + a(24), "{}"),
        ("Slack webhook", f"T{a(8, UPPER)}/B{a(8, UPPER)}/{a(24)}", "https://hooks.sla" + "ck.com/services/{}"),
        ("Stripe", "sk" + "_live_" + a(24), "{}"),
        ("Stripe restricted", "rk" + "_live_" + a(24), "{}"),
        ("Stripe webhook", "whs" + "ec_" + a(32), "{}"),
        ("Twilio key", "S" + "K" + a(32, HEX), "{}"),
        ("Twilio token", a(32, HEX), "A" + "C" + a(32, HEX) + ":{}"),
        ("SendGrid", "S" + "G." + a(22, URLSAFE) + "." + a(43, URLSAFE), "{}"),
        ("Mailgun", "key" + "-" + a(32, HEX), "{}"),
        ("Telegram", "A" + "A" + a(33, URLSAFE), f"{a(9, string.digits)}0:{{}}"),
        ("Discord bot", a(6, URLSAFE) + "." + a(38, URLSAFE), "M" + a(25) + ".{}"),
        ("Discord webhook", a(68, URLSAFE), "https://discord.com/api/web" + "hooks/123456789012345678/{}"),
        ("Datadog", a(32, HEX), "DD_API_KEY={}"),
        ("New Relic", "NR" + "AK-" + a(27, UPPER), "{}"),
        ("Sentry DSN", a(32, HEX), "https://{}@o1.ingest.sentry.io/2"),
        ("Sentry token", "sntr" + "ys_" + a(60), "{}"),
        ("Shopify", "sh" + "pat_" + a(32, HEX), "{}"),
        ("Grafana", "gl" + "sa_" + a(32) + "_" + a(8, HEX), "{}"),
        ("Atlassian", "ATA" + "TT3x" + a(60, URLSAFE), "{}"),
        ("Notion", "nt" + "n_" + a(46), "{}"),
        ("Figma", "fi" + "gd_" + a(40, URLSAFE), "{}"),
        ("Linear", "lin" + "_api_" + a(40), "{}"),
        # keys in blocks
        ("RSA key", pem("RSA PRIVATE KEY", seed), "{}"),
        ("OpenSSH key", pem("OPENSSH PRIVATE KEY", seed), "{}"),
        ("PKCS 8 key", pem("ENCRYPTED PRIVATE KEY", seed), "{}"),
        ("PGP key", pem("PGP PRIVATE KEY BLOCK", seed), "{}"),
        ("age key", "AGE-SECRET" + "-KEY-1" + a(58, UPPER), "{}"),
        # headers
        ("JWT", jwt, "{}"),
        ("bearer", a(40), "Authorization: Bearer {}"),
        ("basic", a(24) + "==", "Authorization: Basic {}"),
        ("bearer alone", a(40), "curl -H 'x: Bearer {}'"),
        ("header in JSON", a(40), '{{"Authorization": "Bearer {}"}}'),
        ("key header", a(40), "x-api-key: {}"),
        ("cookie", a(40), "Cookie: sessionid={}; theme=dark"),
        ("set cookie", a(40), "Set-Cookie: sid={}; Path=/; HttpOnly"),
        # addresses
        ("login in URL", word, "https://ann:{}@example.com/x"),
        ("git with token", a(40), "https://oauth2:{}@git.example.com/x.git"),
        ("Postgres", word, "postgres://app:{}@db:5432/x"),
        ("MongoDB", word, "mongodb+srv://app:{}@cluster0.example.net/x?w=1"),
        ("Redis", word, "redis://:{}@cache:6379/0"),
        ("token in query", a(30), "https://example.com/x?access_token={}&page=2"),
        # names
        ("assigned", word, 'password = "{}"'),
        ("single quotes", word, "api_key = '{}'"),
        ("JSON", word, '{{"password": "{}", "user": "ann"}}'),
        ("JSON in JSON", word, '{{"arguments": "{{\\"password\\": \\"{}\\"}}"}}'),
        ("YAML", word, "db:\n  passwd: {}\n  user: ann"),
        ("environment", word, "export DEPLOY_TOKEN={}"),
        (".env", word, "DB_PASSWORD={}\nDB_USER=ann"),
        ("annotated", word, 'password: str = "{}"'),
        ("indexed", word, 'config["secret_key"] = "{}"'),
        ("flag", word, "tool --password {} --verbose"),
        ("flag with =", word, "tool --api-key={}"),
        ("mysql", word, "mysql -u root -p{} shop"),
        ("curl user", word, "curl -u ann:{} https://example.com"),
        ("docker login", word, "docker login -u ann -p {} registry.example.com"),
        ("netrc", word, "machine example.com\n  login ann\n  password {}"),
        ("netrc line", word, "machine example.com login ann password {}"),
        ("connection string", word, "Server=db;Database=x;User Id=sa;Password={};"),
        ("XML", word, "<password>{}</password>"),
        ("spoken", word, "The password is {}, tell nobody."),
        # files
        ("htpasswd bcrypt", "$2" + "y$10$" + a(53), "ann:{}"),
        ("htpasswd apr1", "$ap" + "r1$" + a(8) + "$" + a(22), "ann:{}"),
        ("shadow", "$6" + "$" + a(16) + "$" + a(86), "ann:{}:19000:0:99999:7:::"),
        ("argon2", "$argon" + "2id$v=19$m=65536,t=3,p=4$" + a(22) + "$" + a(43), "{}"),
        ("Docker config", a(28, BASE64), '{{"auths": {{"r.example.com": {{"auth": "{}"}}}}}}'),
        (".npmrc", a(40), "//registry.example.com/:_authToken={}"),
        ("kubeconfig key", a(100, BASE64), "    client-key-data: {}"),
        ("kubeconfig token", a(60, URLSAFE), "    token: {}"),
        # Chinese
        ("密码", word, "密码：{}"),
        ("口令", word, "口令: {}。"),
        ("令牌", word, "数据库令牌＝{}，请保密"),
        ("密码是", word, "密码是 {} 对吗"),
    ]  # fmt: skip


def look_alikes() -> list[tuple[str, str]]:
    """(what it is, a text in which nothing is secret)."""
    picture = f"data:image/png;base64,{some(3000, BASE64)}=="
    certificate = pem("CERTIFICATE")
    return [
        # digests and names
        ("commit", f"commit {some(40, HEX)}"),
        ("short commit", "fixed in 3f2c9ab"),
        ("tree of commits", "\n".join(some(40, HEX, n) + " refs/heads/x" for n in range(5))),
        ("sha256", f"{some(64, HEX)}  dist/x.whl"),
        ("md5", f"md5: {some(32, HEX)}"),
        ("sha512 integrity", f'"integrity": "sha512-{some(86, BASE64)}=="'),
        ("image digest", f"python@sha256:{some(64, HEX)}"),
        ("hash in a name", f"app.{some(20, HEX)}.chunk.js main.{some(32, HEX)}.css"),
        ("UUID", "123e4567-e89b-12d3-a456-426614174000"),
        ("picture", picture),
        ("font", f"src:url(data:font/woff2;base64,{some(900, BASE64)})"),
        ("source map", f"//# sourceMappingURL=data:application/json;base64,ey{'J'}{some(400)}"),
        ("fingerprint", f"SHA256:{some(43, BASE64)} ann@host (ED25519)"),
        ("public ssh key", f"ssh-rsa AAAAB3NzaC1yc2E{some(300, BASE64)} ann@host"),
        ("certificate", certificate),
        ("public key", pem("PUBLIC KEY")),
        ("PGP signature", pem("PGP SIGNATURE")),
        ("session and calls", "s_01jabcdefghjkmnpqrstvwxyz0 call_8f3ahb2k1m toolu_01A09q90qw90lq917835lq9 r_01jx"),
        ("version", "gongfu 1.24.0-rc.1+build.20261130"),
        # gaps and names that stand for a secret
        ("gap in a manual", "sk" + "-your-key-here"),
        ("longer gap", "sk" + "-ant-your-api-key-goes-here"),
        ("crosses", "api_key = xxxxxxxxxxxxxxxx"),
        ("crosses in a token", "gh" + "p_" + "x" * 36),
        ("stars", "password: ********"),
        ("prefix alone", "Tokens begin with gh" + "p_ or github" + "_pat_ and sk" + "-ant-."),
        ("pointed brackets", "Authorization: Bearer <token>"),
        ("variable", "export GITHUB_TOKEN=${TOKEN}"),
        ("shell variable", 'curl -H "Authorization: Bearer $TOKEN"'),
        ("actions", "token: ${{ secrets.GITHUB_TOKEN }}"),
        ("template", "password: {{ .Values.password }}"),
        ("public default", "password: changeme"),
        ("gap in JSON", '{"api_key": "YOUR_API_KEY", "password": "<password>"}'),
        ("already redacted", "password=[REDACTED] token: ***"),
        # code
        ("empty and null", '{"password": "", "token": null, "secret": true}'),
        ("call", "password = getpass()"),
        ("call with arguments", 'token = next(tokens)\npassword = getpass.getpass("Password: ")'),
        ("annotation", "def connect(api_key: str, password: str | None = None, token: SecretStr = ...) -> None:"),
        ("method", "def password(self) -> str:"),
        ("attribute", "self.token = token\nself._secret = settings.secret"),
        ("keyword arguments", "connect(user=user, password=password, token=self.token)"),
        ("environment read", 'api_key = os.environ["OPENAI_API_KEY"]'),
        ("process.env", "const token = process.env.TOKEN;"),
        ("comparison", "if password == other or token != expected:"),
        ("TypeScript", "interface Login { password: string; token?: string; secret: Buffer }"),
        ("Rust", "let token = Token::new(); struct A { password: String }"),
        ("Go", "Password string `json:\"password\"`"),
        ("SQL", "CREATE TABLE u (id int, password varchar(255) NOT NULL)"),
        ("HTML form", '<input type="password" name="password" id="password"><label>Password:</label>'),
        ("limits", "max_tokens=8192, token_count: 1234, tokens = 12000"),
        ("tokenizer", 'tokenizer: "gpt2-large-chinese-2048"\neos_token: "<|endoftext|>"'),
        ("token type", '"token_type": "bearer", "token_endpoint": "https://example.com/oauth2/token"'),
        ("names of secrets", "secretName: tls-cert-2024\npassword_file: /run/secrets/db1\nsecretKeyRef: {name: x1}"),
        ("import", "from secrets import token_hex, token_urlsafe"),
        ("CSS", ".password-field:hover{color:#a1b2c3}.token.comment{color:#708090}"),
        ("minified", "function a(b,c){return b.token?c(b.token):d(c,{key:1,secret:e.secret})}var f=g.password||h;"),
        ("translation", "t('login.password'); label: 'Password', hint: 'api key'"),
        ("package", "pip install scikit-learn sk" + "-learn-extra task-queue-worker-version-2-with-long-name"),
        ("class names", "risk" + "-assessment-for-a-very-long-name-12345678 disk-0123456789abcdefghij"),
        # prose and places
        ("prose", "The key: value pairs hold a token: it is a word. A secret = something nobody knows."),
        ("prose about login", "Login and password required; the default login and password are in the manual."),
        ("bearer in prose", "It uses bearer authentication, and basic authentication elsewhere."),
        ("cookie in prose", "Cookie: a small piece of data. Accept cookies: yes"),
        ("keyrings", "/usr/share/keyrings/docker.gpg /etc/apt/keyrings signed-by=/usr/share/keyrings/x.gpg"),
        ("e-mail", "ann.example+news@example.co.uk <bob@example.com>"),
        ("phone", "+49 170 1234567, (555) 123-4567, 138 0013 8000"),
        ("address without password", "ssh://git@example.com:22/x http://ann@example.com/ https://example.com/a:b@c"),
        ("port and path", "http://127.0.0.1:8080/@scope/package postgres://localhost:5432/x"),
        ("time and ratio", "12:30:45 16:9 a:b::c 2026-11-30T18:00:00Z"),
        ("folder", "PWD=/home/ann/project OLDPWD=/tmp"),
        ("test counts", "pass: 123 fail: 4 skipped: 2"),
        ("commands", "mkdir -p src/lib && mysql -u root -p shop && cp -p a b"),
        ("prices", "Tokens: 1,234 in, 56 out; cost $0.0123"),
        ("密码 in prose", "请在登录页输入密码，忘记密码时点击“重置密码”。密码：由管理员发放"),
        ("口令 in prose", "口令是什么？令牌：用于身份验证的字符串。"),
        ("Markdown", "| password | the password of the user | `--password` sets it |"),
        ("card", "4111 1111 1111 1111"),
    ]  # fmt: skip
