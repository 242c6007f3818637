"""Small programs in many languages, each under the paths of the definitions that a reader sees in it."""

import re


def grown(text: str) -> str:
    """The text with each line of dots and a number made that many lines of code."""
    return re.sub(r"^( *)\.\.\.(\d+)\n", lambda match: f"{match[1]}x = 1;\n" * int(match[2]), text, flags=re.MULTILINE)


def programs() -> list[tuple[str, str, list[str]]]:
    """Kind, text and the path of each chunk."""
    return [
        (kind, grown(text + "\n"), [path.strip() for path in paths.split("|")])
        for kind, listing in _PROGRAMS.items()
        for paths, _, text in (part.partition("\n") for part in listing.split("\n====")[1:])
    ]


_PROGRAMS = {
    "python": """
==== f | B
@a
async def f(
    a,
):
    ...9


class B(
    C,
):
    ...9
==== f | g
if a:
    def f():
        ...30
    def g():
        ...30
else:
    f = g = 1
""",
    "javascript": """
==== run
/** Doc. */
export default async function run(a, b = {}) {
  ...9
}
====  | A
export default function () {
  ...9
}
export class A {
  ...9
}
==== f | module.exports.g
const a = 1;

export const f = async (a) => {
  ...9
};
module.exports.g = function () {
  ...9
};
==== a/works | a/fails
describe('a', () => {
  it('works', () => {
    ...30
  });
  it.only(`fails`, async () => {
    ...30
  });
});
==== f | g
(function (root) {
  function f() {
    ...30
  }
  var g = function () {
    ...30
  };
})(this);
==== A/f | A/g | A/set | A/key
class A extends B {
  #x = 1;

  static async *f(a) {
    ...30
  }
  get g() {
    ...30
  }
  set (a) {
    ...9
  }
  [key](a) {
    ...9
  }
}
==== module.exports/f | module.exports/g
module.exports = {
  f(a) {
    ...30
  },

  g: async (a) => {
    ...30
  },
};
==== f
function f(a) {
  if (a) {
    ...30
  }
  while (a) {
    ...30
  }
}
""",
    "typescript": """
==== A | C | D | E
@Component({
  selector: 'a',
})
export abstract class A<T> implements B {
  ...9
}
export type C<T> = {
  ...9
};
declare module D {
  ...9
}
export const enum E {
  ...9
}
==== A/constructor | A/f
export class A {
  @Input() a: string;

  constructor(private b: B) {
    ...30
  }

  protected override f<T>(a: T, c: (d: T) => void): void {
    ...30
  }
}
""",
    "go": """
==== Server/Serve | A | main | 
package a

// Doc.
func (s *Server[T]) Serve(l net.Listener) error {
    ...9
loop:
    x()
}

type A struct {
    ...9
}

func main() {
    ...9
}

var (
    ...9
)
""",
    "rust": """
==== run | S | f
/// Doc.
#[inline]
pub(crate) async fn run<'a>(x: &'a str) -> u8 {
    ...9
}

#[derive(Debug)] pub struct S {
    ...9
}

extern "C" fn f(c: char) {
    let a = '"';
    ...9
}
==== Thing/fmt | Other | mac | tests
impl<T: Foo<Bar>> fmt::Display for Thing<T>
where
    T: X,
{
    fn fmt(&self) {
        ...60
    }
}
impl<'a> Other<'a> {
    ...9
}
macro_rules! mac {
    ...9
}
#[cfg(test)]
mod tests {
    ...9
}
==== A | f
const A: &str = r#"
fn no() {
    ...9
}
"#;
fn f() {
    ...9
}
""",
    "java": '''
==== A/get | A/A
package a;

/** Doc. */
@Foo(a = "b")
public final class A<T> extends B {
    int x = f(1);

    @Override
    public Map<String, List<T>> get(int a) throws E {
        ...60
    }

    @Inject(a) A(int x) {
        ...9
    }
}
==== A | A/f
class A {
    String s = """
        class No {
        ...60
        }
        """;
    int f() {
        ...9
    }
}
''',
    "csharp": """
==== N.M/P/Do | N.M/P/X
using X;

namespace N.M
{
    [Serializable]
    public record struct P(int A)
    {
        [Get("a")]
        public async Task<int> Do<T>(T a)
        {
            ...60
        }

        public int X
        {
            ...9
        }
    }
}
""",
    "c": r"""
==== make_foo | bar_t | baz | table
#include <a.h>

/* Doc. */
static inline struct foo *
make_foo(int a,
    int b)
{
    ...9
out:
    return 0;
}

typedef struct {
    ...9
} bar_t;

struct baz {
    ...9
};

static const int table[] = {
    ...9
};
==== MAX | f
#define MAX(a, b) \
    a; \
    a; \
    a; \
    a; \
    a; \
    a; \
    b

int f(void) {
    ...9
}
==== f | g
#ifdef A
int f(int a) {
#else
int f(long a) {
#endif
    ...9
}

int g(void)
{
    ...9
}
""",
    "cpp": """
==== A/~A | A/f | A/g | operator==
template <typename T>
class API A : public B<T> {
 public:
  A();
  virtual ~A() {
    ...30
  }

 private:
  template <class U>
  static U f(U u) {
    ...30
  }
};

template <class T> void A<T>::g(int x) const {
  ...9
}
bool operator==(A a, A b) {
  ...9
}
==== f
namespace n {
namespace {

int f() {
  ...9
}

}  // namespace
}  // namespace n
==== s | f
auto s = R"x(
int no() {
  ...9
}
)x";
int n = 1'000'000;
int f() {
  ...9
}
==== f
int f() {
  if (a) {
    ...30
  }
  for (;;) {
    ...30
  }
}
""",
    "ruby": """
==== A/C/call | A/C/ok?
module A
  class B::C < D
    attr_reader :a

    def self.call(x)
      ...30
    end

    private

    # Doc.
    def ok?
      ...30
    end
  end
end
====  | Thing
sql = <<~SQL
  def no
class No
  ...9
SQL

RSpec.describe Thing do
  ...9
end
==== A | 
=begin
def no
  ...9
end
=end
class A
  ...9
end
__END__
class No
  ...9
end
""",
    "shell": """
==== build | deploy
#!/bin/sh
set -e

# Doc.
build() {
    ...9
}

function deploy
{
    ...9
}

if true
then
    build
fi
====  | f
cat <<'EOF' | a "$b"
no() {
    ...9
}
EOF
awk '
no() {
    ...9
}
'
f() {
    ...9
}
==== f
x=$((1<<2))
y="${a##*/}"
f() {
    ...9
}
""",
    "sql": """
==== app.add | users
-- Doc.
CREATE OR REPLACE FUNCTION "app"."add"(a int)
RETURNS int
AS $$
BEGIN

  SELECT 1;
CREATE TABLE no (a int);
    ...5
END;
$$ LANGUAGE plpgsql;

CREATE TABLE IF NOT EXISTS users
(
  ...9
);
==== t | 
CREATE TRIGGER t AFTER INSERT ON a
BEGIN
  ...9
END;
SELECT a -- ;

FROM b
  ...30
WHERE c = ';'
;
""",
    "kotlin": """
==== A | String/f
package a

data class A(val x: Int) {
    ...9
}

private suspend fun <T> String.f(a: T): T {
    ...9
}
""",
}
