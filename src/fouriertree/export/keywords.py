"""Reserved identifiers in generated code: the same for all languages, so that a feature has one identifier."""

import re

from fouriertree.expr.catalogue import CATALOGUE
from fouriertree.expr.operators.forms import Form

PYTHON = """
False None True and as assert async await break case class continue def del elif else except finally for from global if
import in is lambda match nonlocal not or pass print raise return try type while with yield
"""
C = """
alignas alignof and_eq asm auto bitand bitor bool catch char char16_t char32_t char8_t co_await co_return co_yield compl
concept const const_cast consteval constexpr constinit decltype default delete do double dynamic_cast enum explicit
export extern far float friend goto huge inline int long mutable namespace near new noexcept not_eq nullptr operator
or_eq private protected public register reinterpret_cast requires restrict short signed sizeof static static_assert
static_cast struct switch template this thread_local throw typedef typeid typename typeof union unsigned using virtual
void volatile wchar_t xor xor_eq errno i386 linux main signgam std unix
"""
JAVASCRIPT = """
Infinity Math NaN Number Object abstract arguments boolean byte debugger eval exports final function implements
instanceof interface let module native null package super synchronized throws transient undefined var
"""
JULIA = """
Float64 Inf baremodule begin end elseif isa isinf isnan local macro missing mod nothing outer quote signbit where
"""
MATLAB = """
ans classdef e end_try_catch end_unwind_protect endarguments endclassdef endenumeration endevents endfor endfunction
endif endmethods endparfor endproperties endspmd endswitch endwhile enumeration eps events false floor i inf isfinite j
methods nan ones otherwise parfor persistent pi properties real size spmd true until unwind_protect
unwind_protect_cleanup zeros
"""
R = "F FALSE NA NULL T TRUE c ifelse length next pmax pmin q repeat suppressWarnings t"
#: identifiers of the generated code, and of its modules
OURS = "X formula jax jnp math maximum minimum np numpy parameters power predict result self sympy torch y"
#: languages whose functions are called without a module
_BARE = ("python", "c", "julia", "matlab", "r", "javascript", "jax")
_CALLED = re.compile(r"(?<![\w.:])([A-Za-z]\w*)(?=\()")


def _of_operators() -> set[str]:
    """Names of operators, and of the functions that their forms call."""
    found = set(CATALOGUE)
    for row in CATALOGUE.values():
        forms = [form for language in _BARE if isinstance(form := row.forms.get(language), Form)]
        found.update(word for form in forms for word in _CALLED.findall(form.text))
    return found


RESERVED = frozenset(" ".join([PYTHON, C, JAVASCRIPT, JULIA, MATLAB, R, OURS]).split()) | _of_operators()
