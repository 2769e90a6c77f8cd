"""Eight further small tasks of the same sort, kept apart from those that the prompts were tuned on."""

TASKS = [
    {
        "name": "squares",
        "prompt": "Write squares.py that prints the squares of 1 to 8 on one line separated by commas, run it and tell me "
        "what it printed.",
        "files": {},
        "run": "python3 squares.py",
        "out": "1,4,9,16,25,36,49,64",
    },
    {
        "name": "todo",
        "prompt": "Make a file todo.md with exactly two lines: first '# Todo', then '- call Bob'.",
        "files": {},
        "content": {"todo.md": "# Todo\n- call Bob"},
    },
    {
        "name": "off_by_one",
        "prompt": "`python3 check.py` fails because last_word in words.py is wrong. Repair words.py and leave check.py as it "
        "is.",
        "files": {
            "words.py": "def first_word(text):\n    return text.split()[0]\n\n\ndef last_word(text):\n"
            "    return text.split()[1]\n",
            "check.py": 'from words import first_word, last_word\n\nassert first_word("a b c") == "a"\n'
            'assert last_word("a b c") == "c"\nprint("fine")\n',
        },
        "run": "python3 check.py",
        "out": "fine",
        "keep": ["check.py"],
    },
    {
        "name": "errors",
        "prompt": "How many lines in server.log contain the word ERROR? Give me the number.",
        "files": {
            "server.log": "".join(f"12:{i:02d} {'ERROR disk' if i % 4 == 1 else 'INFO ok'} {i}\n" for i in range(43)),
        },
        "answer": "11",
        "keep": ["server.log"],
    },
    {
        "name": "constant",
        "prompt": "Change the constant MAX_RETRIES in settings.py from 3 to 5. `python3 show.py` prints it.",
        "files": {
            "settings.py": 'NAME = "demo"\nMAX_RETRIES = 3\nTIMEOUT = 30\n',
            "show.py": "import settings\n\nprint(settings.NAME, settings.MAX_RETRIES, settings.TIMEOUT)\n",
        },
        "run": "python3 show.py",
        "out": "demo 5 30",
        "keep": ["show.py"],
    },
    {
        "name": "version",
        "prompt": "Which version does pyproject.toml state?",
        "files": {"pyproject.toml": '[project]\nname = "tool"\nversion = "2.8.1"\nrequires-python = ">=3.10"\n'},
        "answer": "2.8.1",
        "keep": ["pyproject.toml"],
    },
    {
        "name": "palindrome",
        "prompt": "Create text.py with a function is_palindrome(s) that returns True when s reads the same backwards, "
        "ignoring upper and lower case, and False otherwise.",
        "files": {},
        "run": "python3 -c \"from text import is_palindrome as p; print([p(x) for x in ('Level', 'abc', '', 'Noon')])\"",
        "out": "[True, False, True, True]",
    },
    {
        "name": "import",
        "prompt": "`python3 report.py` stops with an error. Find the reason and repair report.py; it should print 15.0.",
        "files": {
            "report.py": "import statistic\n\nvalues = [10, 15, 20]\nprint(float(statistic.mean(values)))\n",
        },
        "run": "python3 report.py",
        "out": "15.0",
    },
]
