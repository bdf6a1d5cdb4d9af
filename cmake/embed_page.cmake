# Writes the page of fansite/report/page, with D3, as one C++ source: the library then needs no file beside it.
#   cmake -DOUT=page_files.cpp -DPAGE=fansite/report/page -DD3=d3.min.js -DSCRIPTS=a.js,b.js -P embed_page.cmake
# With an empty D3 the page is empty, and to_html refuses to make one.
# The program is a single file that can be copied anywhere, so the page cannot be looked up at run time. Browsers are told
# the hashes of style and script and run nothing else, whatever a variable's name may hold.
# Lines of a string literal; as a list of characters, compilers take minutes.
function(literal_of file result)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................................................)" "\\1\n" lines "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
  string(REGEX REPLACE "([^\n]+)\n?" "    \"\\1\"\n" lines "${lines}")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

if(NOT D3)
  file(WRITE ${OUT} "// Made by cmake/embed_page.cmake, without D3.
#include \"fansite/report/detail/page_files.h\"

namespace fansite::report {

const PageFiles& page_files() {
  static const PageFiles none{};
  return none;
}

}  // namespace fansite::report
")
  return()
endif()

string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
set(joined ${OUT}.js)
file(READ ${D3} text)
file(WRITE ${joined} "${text}\n")
foreach(script IN LISTS SCRIPTS)
  file(READ ${PAGE}/${script} text)
  file(APPEND ${joined} "${text}")
endforeach()

literal_of(${PAGE}/page.html html)
literal_of(${PAGE}/page.css style)
literal_of(${joined} script)
file(SHA256 ${PAGE}/page.css style_sha256)
file(SHA256 ${joined} script_sha256)

file(WRITE ${OUT} "// Made by cmake/embed_page.cmake.
#include \"fansite/report/detail/page_files.h\"

namespace fansite::report {
namespace {

constexpr char html[] =
${html};
constexpr char style[] =
${style};
constexpr char script[] =
${script};

}  // namespace

const PageFiles& page_files() {
  static const PageFiles files{{html, sizeof(html) - 1},
                               {style, sizeof(style) - 1},
                               {script, sizeof(script) - 1},
                               \"${style_sha256}\",
                               \"${script_sha256}\"};
  return files;
}

}  // namespace fansite::report
")
