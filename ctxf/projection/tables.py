"""What projection must know of a language, a row each (PROTOCOL.md §14): node kinds of its grammar.

Data only. A language without a row is never projected. Kinds that a grammar does not have do no harm.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ctxf.protocol.model import CommentForm

__all__ = ["TABLES", "Table"]

_NONE: Final[frozenset[str]] = frozenset()


def _kinds(names: str) -> frozenset[str]:
    return frozenset(names.split())


@dataclass(frozen=True, slots=True)
class Table:
    """One row.

    `functions` are definitions with a body, `signatures` such without; with `overloads` these belong to the
    body of the same name. A `bindings` node gives a name to one of `values`, which then is a function.
    `types` are what methods stand in.

    `scopes` are the nodes whose names qualify what is inside, with the fields that hold the names, `owners`
    those of a definition that name what it belongs to. Between a definition and its name may stand nodes of
    `name_path`, around it belong `wrappers`, before it `attributes`.

    `levels` are the nodes whose members count as file-level. `constants` are statements that bind literals,
    if `constant_head` matches at their beginning; inside them, `constant_bindings` hold the values, and these
    are made of `literals` only. `imports` bring names in. With
    `has_macros` words may stand anywhere that the grammar has no place for.
    """

    form: CommentForm
    functions: frozenset[str]
    types: frozenset[str]
    scopes: Mapping[str, tuple[str, ...]]
    constants: frozenset[str]
    constant_bindings: frozenset[str]
    literals: frozenset[str]
    signatures: frozenset[str] = _NONE
    overloads: bool = False
    bindings: frozenset[str] = _NONE
    values: frozenset[str] = _NONE
    owners: Mapping[str, str] = field(default_factory=dict)
    name_path: frozenset[str] = _NONE
    wrappers: frozenset[str] = _NONE
    attributes: frozenset[str] = _NONE
    levels: frozenset[str] = _NONE
    constant_head: re.Pattern[bytes] | None = None
    has_macros: bool = False
    imports: frozenset[str] = field(default=_kinds("import_declaration use_declaration preproc_include"))


_HASH: Final = CommentForm(b"#")
_SLASHES: Final = CommentForm(b"//")
_NAME: Final = ("name",)

_JAVASCRIPT: Final = Table(
    form=_SLASHES,
    functions=_kinds("function_declaration generator_function_declaration method_definition"),
    signatures=_kinds("function_signature method_signature abstract_method_signature"),
    overloads=True,
    bindings=_kinds(
        "variable_declarator pair assignment_expression field_definition public_field_definition"
    ),
    values=_kinds("arrow_function function_expression generator_function"),
    types=_kinds(
        "class_declaration abstract_class_declaration class interface_declaration type_alias_declaration"
        " enum_declaration"
    ),
    scopes={
        **dict.fromkeys(
            ("class_declaration", "abstract_class_declaration", "class", "interface_declaration"), _NAME
        ),
        **dict.fromkeys(("internal_module", "module"), _NAME),
    },
    owners={"assignment_expression": "left"},
    name_path=_kinds("member_expression string"),
    wrappers=_kinds(
        "export_statement ambient_declaration lexical_declaration variable_declaration expression_statement"
        " assignment_expression"
    ),
    attributes=_kinds("decorator"),
    constants=_kinds("lexical_declaration variable_declaration expression_statement export_statement"),
    constant_bindings=_kinds("variable_declarator assignment_expression"),
    constant_head=re.compile(
        rb"(?:export\s+)?(?:declare\s+)?(?:const|var)\b|(?:module\.)?exports\.[\w$]+\s*=", re.ASCII
    ),
    literals=_kinds(
        "number string string_fragment escape_sequence true false null undefined array object pair regex"
        " regex_pattern regex_flags template_string unary_expression binary_expression property_identifier"
        " parenthesized_expression as_expression satisfies_expression predefined_type comment"
        " computed_property_name ternary_expression"
    ),
    imports=_kinds("import_statement"),
)

_CPP: Final = Table(
    form=_SLASHES,
    has_macros=True,
    functions=_kinds("function_definition preproc_function_def"),
    signatures=_kinds("declaration field_declaration"),
    types=_kinds("class_specifier struct_specifier union_specifier enum_specifier type_definition"),
    scopes=dict.fromkeys(
        ("class_specifier", "struct_specifier", "union_specifier", "namespace_definition"), _NAME
    ),
    name_path=_kinds(
        "function_declarator pointer_declarator reference_declarator parenthesized_declarator"
        " qualified_identifier destructor_name template_function attributed_declarator"
    ),
    wrappers=_kinds("template_declaration friend_declaration"),
    levels=_kinds("preproc_ifdef preproc_if namespace_definition linkage_specification declaration_list"),
    constants=_kinds("declaration preproc_def enum_specifier"),
    constant_bindings=_kinds("init_declarator enumerator"),
    constant_head=re.compile(rb"[^={;]*\b(?:const|constexpr)\b|enum\s*(?::\s*\w+\s*)?\{", re.ASCII),
    literals=_kinds(
        "number_literal string_literal string_content escape_sequence char_literal character true false null"
        " concatenated_string initializer_list unary_expression binary_expression parenthesized_expression"
        " raw_string_literal raw_string_content raw_string_delimiter user_defined_literal literal_suffix"
        " initializer_pair field_designator field_identifier subscript_designator comment"
    ),
)

TABLES: Final[dict[str, Table]] = {
    "python": Table(
        form=_HASH,
        functions=_kinds("function_definition"),
        bindings=_kinds("assignment"),
        values=_kinds("lambda"),
        types=_kinds("class_definition"),
        scopes={"class_definition": _NAME},
        wrappers=_kinds("decorated_definition expression_statement"),
        constants=_kinds("expression_statement"),
        constant_bindings=_kinds("assignment"),
        literals=_kinds(
            "integer float string string_start string_content string_end escape_sequence concatenated_string"
            " true false none ellipsis list tuple dictionary pair set unary_operator binary_operator"
            " not_operator parenthesized_expression expression_list comment line_continuation"
        ),
        imports=_kinds("import_statement import_from_statement future_import_statement"),
    ),
    "javascript": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "tsx": _JAVASCRIPT,
    "go": Table(
        form=_SLASHES,
        functions=_kinds("function_declaration method_declaration"),
        signatures=_kinds("method_elem"),
        bindings=_kinds("var_spec"),
        values=_kinds("func_literal"),
        types=_kinds("type_spec type_alias"),
        scopes={"type_spec": _NAME},
        owners={"method_declaration": "receiver"},
        wrappers=_kinds("var_declaration"),
        constants=_kinds("const_declaration var_declaration"),
        constant_bindings=_kinds("const_spec var_spec"),
        literals=_kinds(
            "int_literal float_literal imaginary_literal rune_literal interpreted_string_literal"
            " interpreted_string_literal_content raw_string_literal raw_string_literal_content"
            " escape_sequence true false nil iota expression_list unary_expression binary_expression"
            " parenthesized_expression composite_literal literal_value literal_element keyed_element"
            " array_type slice_type map_type implicit_length_array_type type_identifier comment"
        ),
    ),
    "rust": Table(
        form=_SLASHES,
        functions=_kinds("function_item macro_definition"),
        signatures=_kinds("function_signature_item"),
        types=_kinds("struct_item enum_item union_item trait_item type_item"),
        scopes={
            "impl_item": ("trait", "type"),
            **dict.fromkeys(("trait_item", "mod_item"), _NAME),
        },
        attributes=_kinds("attribute_item"),
        levels=_kinds("mod_item declaration_list"),
        constants=_kinds("const_item static_item"),
        constant_bindings=_kinds("const_item static_item"),
        constant_head=re.compile(rb"(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?!mut\b)"),
        literals=_kinds(
            "integer_literal float_literal string_literal string_content raw_string_literal char_literal"
            " boolean_literal negative_literal escape_sequence array_expression tuple_expression"
            " reference_expression unary_expression binary_expression parenthesized_expression"
            " type_cast_expression primitive_type line_comment block_comment"
        ),
    ),
    "c": _CPP,
    "cpp": _CPP,
    "java": Table(
        form=_SLASHES,
        functions=_kinds(
            "method_declaration constructor_declaration compact_constructor_declaration"
            " annotation_type_element_declaration"
        ),
        types=_kinds(
            "class_declaration interface_declaration enum_declaration record_declaration"
            " annotation_type_declaration"
        ),
        scopes=dict.fromkeys(
            (
                *("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
                *("annotation_type_declaration", "enum_constant"),
            ),
            _NAME,
        ),
        levels=_kinds(
            "class_declaration interface_declaration enum_declaration record_declaration class_body"
            " interface_body enum_body enum_body_declarations"
        ),
        constants=_kinds("field_declaration constant_declaration"),
        constant_bindings=_kinds("variable_declarator"),
        constant_head=re.compile(rb"(?=[^=;]*\bstatic\b)(?=[^=;]*\bfinal\b)", re.ASCII),
        literals=_kinds(
            "decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal"
            " decimal_floating_point_literal hex_floating_point_literal string_literal string_fragment"
            " multiline_string_fragment escape_sequence character_literal true false null_literal"
            " array_initializer unary_expression binary_expression parenthesized_expression"
            " line_comment block_comment"
        ),
    ),
    "csharp": Table(
        form=_SLASHES,
        functions=_kinds(
            "method_declaration constructor_declaration destructor_declaration local_function_statement"
            " property_declaration event_declaration delegate_declaration"
        ),
        types=_kinds(
            "class_declaration struct_declaration interface_declaration record_declaration enum_declaration"
        ),
        scopes=dict.fromkeys(
            (
                *("class_declaration", "struct_declaration", "interface_declaration", "record_declaration"),
                *("enum_declaration", "namespace_declaration"),
            ),
            _NAME,
        ),
        levels=_kinds(
            "namespace_declaration class_declaration struct_declaration record_declaration declaration_list"
        ),
        constants=_kinds("field_declaration"),
        constant_bindings=_kinds("variable_declarator"),
        constant_head=re.compile(rb"[^=;]*\b(?:const|static\s+readonly|readonly\s+static)\b", re.ASCII),
        literals=_kinds(
            "integer_literal real_literal boolean_literal null_literal character_literal"
            " character_literal_content string_literal string_literal_content string_literal_encoding"
            " verbatim_string_literal raw_string_literal raw_string_content raw_string_start raw_string_end"
            " escape_sequence prefix_unary_expression binary_expression parenthesized_expression"
            " initializer_expression comment"
        ),
        imports=_kinds("using_directive"),
    ),
    "ruby": Table(
        form=_HASH,
        functions=_kinds("method singleton_method"),
        types=_kinds("class module"),
        scopes={"class": _NAME, "module": _NAME},
        owners={"singleton_method": "object"},
        name_path=_kinds("setter"),
        wrappers=_kinds("argument_list call"),
        constants=_kinds("assignment"),
        constant_bindings=_kinds("assignment"),
        constant_head=re.compile(rb"(?:::)?[A-Z]"),
        literals=_kinds(
            "integer float rational complex string string_content escape_sequence chained_string"
            " simple_symbol delimited_symbol hash_key_symbol bare_symbol bare_string string_array"
            " symbol_array array hash pair true false nil unary binary regex character range"
            " parenthesized_statements comment"
        ),
        imports=_NONE,
    ),
    "php": Table(
        form=_SLASHES,
        functions=_kinds("function_definition method_declaration"),
        bindings=_kinds("assignment_expression"),
        values=_kinds("anonymous_function arrow_function"),
        types=_kinds("class_declaration interface_declaration trait_declaration enum_declaration"),
        scopes=dict.fromkeys(
            (
                *("class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"),
                "namespace_definition",
            ),
            _NAME,
        ),
        name_path=_kinds("variable_name"),
        wrappers=_kinds("expression_statement"),
        levels=_kinds("namespace_definition"),
        constants=_kinds("const_declaration expression_statement"),
        constant_bindings=_kinds("const_element function_call_expression"),
        constant_head=re.compile(rb"(?i:const\b|define\s*\()"),
        literals=_kinds(
            "integer float string string_content encapsed_string escape_sequence boolean null"
            " array_creation_expression array_element_initializer unary_op_expression binary_expression"
            " parenthesized_expression nowdoc nowdoc_body nowdoc_string heredoc_start heredoc_end argument"
            " comment"
        ),
        imports=_kinds("namespace_use_declaration"),
    ),
    "bash": Table(
        form=_HASH,
        functions=_kinds("function_definition"),
        types=_NONE,
        scopes={},
        constants=_kinds("variable_assignment variable_assignments declaration_command"),
        constant_bindings=_kinds("variable_assignment"),
        literals=_kinds("number word string string_content raw_string ansi_c_string array concatenation"),
        imports=_NONE,
    ),
}
