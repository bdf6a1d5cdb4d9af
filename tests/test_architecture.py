# SPDX-License-Identifier: Apache-2.0
"""Each rule of tools/architecture.py can fail: made-up trees, each with one mistake, beside one without."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import architecture  # noqa: E402

GOOD = {
    "fansite/layers.txt": "base   what all need\ngraph  graphs\n",
    "fansite/fansite.h": '#include "fansite/base/error.h"\n#include "fansite/graph/dag.h"\n',
    "fansite/base/error.h": "#include <string>\n",
    "fansite/base/error.cpp": '#include "fansite/base/error.h"\n',
    "fansite/graph/dag.h": '#include "fansite/base/error.h"\n',
    "fansite/graph/detail/walk.h": '#include "fansite/graph/dag.h"\n',
    "fansite/graph/dag.cpp": '#include "fansite/graph/detail/walk.h"\n',
    "cli/main.cpp": '#include "fansite/fansite.h"\n#include "cli/command.h"\n',
}


def body(lines):
    return "".join(f"  use({i});\n" for i in range(lines))


class Tree(unittest.TestCase):
    def findings(self, files, sizes=False):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in {**GOOD, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            return list(architecture.findings(root, sizes))

    def one(self, files, *words, sizes=False):
        found = self.findings(files, sizes)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])


class Includes(Tree):
    def test_a_good_tree_is_clean(self):
        self.assertEqual(self.findings({}, sizes=True), [])

    def test_a_header_includes_a_folder_below(self):
        self.one({"fansite/base/sets.h": '#include "fansite/graph/dag.h"\n'}, "fansite/base/sets.h:1", "fansite/graph/dag.h")

    def test_a_source_includes_a_folder_below(self):
        self.one({"fansite/base/sets.cpp": '\n#include <fansite/graph/dag.h>\n'}, "fansite/base/sets.cpp:2", "fansite/graph/dag.h")

    def test_the_library_includes_the_umbrella(self):
        self.one({"fansite/graph/dag.cpp": '#include "fansite/fansite.h"\n'}, "fansite/graph/dag.cpp:1", "fansite/fansite.h")

    def test_the_library_includes_the_program(self):
        self.one({"fansite/graph/dag.cpp": '#include "cli/command.h"\n'}, "fansite/graph/dag.cpp:1", "cli/command.h")

    def test_comments_do_not_include(self):
        text = '// #include "fansite/graph/dag.h"\n/*\n#include "fansite/graph/dag.h"\n*/\n'
        self.assertEqual(self.findings({"fansite/base/sets.h": text}), [])

    def test_headers_in_a_cycle(self):
        files = {
            "fansite/graph/a.h": '#include "fansite/graph/b.h"\n',
            "fansite/graph/b.h": '#include "fansite/graph/a.h"\n',
        }
        self.one(files, "fansite/graph/a.h -> fansite/graph/b.h -> fansite/graph/a.h")

    def test_private_headers_used_from_outside(self):
        for user in ("cli/dag.cpp", "python/src/bind_graph.cpp", "examples/find_package/main.cpp"):
            self.one({user: '#include "fansite/graph/detail/walk.h"\n'}, f"{user}:1", "fansite/graph/detail/walk.h")

    def test_a_folder_that_is_not_listed(self):
        self.one({"fansite/new/thing.h": "\n"}, "layers.txt", "fansite/new")

    def test_a_listed_folder_that_is_not_there(self):
        self.one({"fansite/layers.txt": "base\ngraph\nrun\n"}, "layers.txt", "fansite/run")

    def test_a_folder_listed_twice(self):
        self.one({"fansite/layers.txt": "base\ngraph\ngraph\n"}, "layers.txt", "twice")


class Sizes(Tree):
    def long(self, text, name):
        self.one({"fansite/graph/dag.cpp": text}, "fansite/graph/dag.cpp", name, sizes=True)

    def test_a_long_file(self):
        self.one({"fansite/graph/dag.cpp": "int a;\n" * 501}, "fansite/graph/dag.cpp", "501 lines", sizes=True)
        self.assertEqual(self.findings({"fansite/graph/dag.cpp": "int a;\n" * 500}, sizes=True), [])
        self.assertEqual(self.findings({"fansite/graph/dag.cpp": "int a;\n" * 501}), [])

    def test_the_named_exception(self):
        kernel = {"fansite/layers.txt": "base\ngraph\nentropy\n"}
        kernel["fansite/entropy/flow/detail/learner_kernel.cpp"] = "int a;\n" * 501
        self.assertEqual(self.findings(kernel, sizes=True), [])

    def test_a_long_function(self):
        self.long("namespace fansite {\nint grow(int x) {\n" + body(79) + "}\n}\n", "grow has 81 lines")
        fits = "namespace fansite {\nint grow(int x) {\n" + body(78) + "}\n}\n"
        self.assertEqual(self.findings({"fansite/graph/dag.cpp": fits}, sizes=True), [])

    def test_long_functions_outside_the_library(self):
        for user in ("cli/dag.cpp", "python/src/bind_graph.cpp"):
            self.one({user: "void run() {\n" + body(80) + "}\n"}, user, "run has 82 lines", sizes=True)

    def test_members_templates_constructors(self):
        self.long("class A {\n public:\n  int grow() const {\n" + body(80) + "}\n};\n", "grow has 82")
        self.long("template <class T>\nT grow(T x = {}) {\n" + body(80) + "}\n", "grow has 83")
        self.long("A::A(int x) : a{x}, b(x), c{} {\n" + body(80) + "}\n", "A::A has 82")
        self.long("bool A::operator()(int x) noexcept {\n" + body(80) + "}\n", "82")
        self.long("struct A grow(int x) {\n" + body(80) + "}\n", "grow has 82")

    def test_lambdas_count_with_their_function(self):
        self.long("void grow() {\n  run([&](int i) {\n" + body(80) + "  });\n}\n", "grow has 84")

    def test_neighbours_are_not_one_function(self):
        text = "void a() {\n" + body(60) + "}\n\nvoid b() {\n" + body(60) + "}\n"
        self.assertEqual(self.findings({"fansite/graph/dag.cpp": text}, sizes=True), [])

    def test_braces_that_are_not_code(self):
        tricky = (
            "#define OPEN {\n"
            "void a() {\n  char c = '{'; // {\n  const char* s = \"{\\\"{\"; /* { */\n"
            "  const char* raw = R\"x({ \" {)x\";\n  int n = 1'000'000;\n}\n"
        )
        text = tricky + body(0) + "struct S {\n" + "  int a;\n" * 90 + "};\nconst int k[] = {\n" + "  1,\n" * 90 + "};\n"
        self.assertEqual(self.findings({"fansite/graph/dag.cpp": text}, sizes=True), [])

    def test_a_brace_never_closed(self):
        self.long("void a() {\n", "never closed")


class Program(unittest.TestCase):
    def test_a_finding_is_an_exit_status(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "fansite/base").mkdir(parents=True)
            (root / "fansite/layers.txt").write_text("base\n")
            (root / "fansite/base/a.h").write_text("")
            self.assertEqual(architecture.main(["--root", folder]), 0)
            (root / "fansite/base/a.h").write_text('#include "fansite/base/a.h"\n')
            self.assertEqual(architecture.main(["--root", folder]), 1)


if __name__ == "__main__":
    unittest.main()
