"""What to look for in the trees of each grammar, as queries of tree-sitter.

A pattern captures `name` and the whole definition under its kind; or `call` with `on` (what it is called on), `ref` (a
name that is used otherwise), `var` with `vartype` (a variable and the name of its type), or a part of an import:
`module` with `item` and `alias`, with `default`, or `all` (a name for the module itself), of a call only when
`_called` is `require`; `use` is text to be read
by the language's own rules. `impl` gives names inside it their owner and is no symbol itself.
"""

from __future__ import annotations

from typing import Final

_SCRIPT: Final = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
(program (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(program (variable_declaration (variable_declarator name: (identifier) @name) @variable))
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @variable))
(call_expression function: (identifier) @call)
(call_expression function: (member_expression object: (_) @on
  property: [(property_identifier) (private_property_identifier)] @call))
(new_expression constructor: (identifier) @call)
(new_expression constructor: (member_expression object: (_) @on property: (property_identifier) @call))
(identifier) @ref
(shorthand_property_identifier) @ref
(variable_declarator name: (identifier) @var value: (new_expression constructor: (identifier) @vartype))
(import_statement (import_clause (identifier) @default) source: (string) @module)
(import_statement (import_clause (namespace_import (identifier) @all)) source: (string) @module)
(import_statement (import_clause (named_imports (import_specifier name: (_) @item !alias))) source: (string) @module)
(import_statement (import_clause (named_imports (import_specifier name: (_) @item alias: (_) @alias)))
  source: (string) @module)
(import_statement source: (string) @module) @bare
(export_statement (export_clause (export_specifier name: (_) @item !alias)) source: (string) @module)
(export_statement (export_clause (export_specifier name: (_) @item alias: (_) @alias)) source: (string) @module)
(export_statement "*" source: (string) @module) @everything
(variable_declarator name: (identifier) @all value: (call_expression function: (identifier) @_called
  arguments: (arguments (string) @module)))
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @item)
  value: (call_expression function: (identifier) @_called arguments: (arguments (string) @module)))
"""
_JSX: Final = """
(jsx_opening_element name: (identifier) @call)
(jsx_self_closing_element name: (identifier) @call)
"""
_JAVASCRIPT: Final = """
(class_declaration name: (identifier) @name) @class
(field_definition property: (property_identifier) @name value: (arrow_function)) @method
"""
_TYPED: Final = """
(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @interface
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @enum
(internal_module name: (_) @name) @module
(function_signature name: (identifier) @name) @declared_function
(abstract_method_signature name: (property_identifier) @name) @method
(method_signature name: (property_identifier) @name) @method
(property_signature name: (property_identifier) @name) @field
(public_field_definition name: (property_identifier) @name value: (arrow_function)) @method
(type_identifier) @ref
(required_parameter pattern: (identifier) @var type: (type_annotation (type_identifier) @vartype))
(variable_declarator name: (identifier) @var type: (type_annotation (type_identifier) @vartype))
(public_field_definition name: (property_identifier) @var type: (type_annotation (type_identifier) @vartype))
"""
_GO: Final = """
(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name type: [(type_identifier) (map_type) (slice_type) (function_type) (pointer_type)
  (array_type) (qualified_type) (channel_type) (generic_type)]) @type
(type_alias name: (type_identifier) @name) @type
(method_elem name: (field_identifier) @name) @method
(source_file (const_declaration (const_spec name: (identifier) @name) @constant))
(source_file (var_declaration (var_spec name: (identifier) @name) @variable))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @variable)))
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression operand: (_) @on field: (field_identifier) @call))
(qualified_type package: (package_identifier) @on name: (type_identifier) @ref)
(selector_expression operand: (identifier) @on field: (field_identifier) @ref)
(type_identifier) @ref
(identifier) @ref
(parameter_declaration name: (identifier) @var type: (_) @vartype)
(var_spec name: (identifier) @var type: (_) @vartype)
(short_var_declaration left: (expression_list . (identifier) @var .)
  right: (expression_list . (composite_literal type: (_) @vartype) .))
(short_var_declaration left: (expression_list . (identifier) @var .)
  right: (expression_list . (unary_expression operand: (composite_literal type: (_) @vartype)) .))
(field_declaration name: (field_identifier) @var type: (_) @vartype)
(import_spec !name path: (interpreted_string_literal) @module)
(import_spec name: (_) @all path: (interpreted_string_literal) @module)
"""
_RUST: Final = """
(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(union_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(trait_item name: (type_identifier) @name) @trait
(type_item name: (type_identifier) @name) @type
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @constant
(macro_definition name: (identifier) @name) @macro
(mod_item name: (identifier) @name body: (_)) @module
(impl_item type: (_) @name) @impl
(call_expression function: (identifier) @call)
(call_expression function: (field_expression value: (_) @on field: (field_identifier) @call))
(call_expression function: (scoped_identifier path: (_) @on name: (identifier) @call))
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (scoped_identifier path: (_) @on name: (identifier) @call)))
(call_expression function: (generic_function
  function: (field_expression value: (_) @on field: (field_identifier) @call)))
(macro_invocation macro: (identifier) @call)
(scoped_identifier path: (_) @on name: (identifier) @ref)
(type_identifier) @ref
(identifier) @ref
(parameter pattern: (identifier) @var type: (_) @vartype)
(let_declaration pattern: (identifier) @var type: (_) @vartype)
(let_declaration pattern: (identifier) @var value: (call_expression function: (scoped_identifier path: (_) @vartype)))
(let_declaration pattern: (identifier) @var value: (struct_expression name: (_) @vartype))
(field_declaration name: (field_identifier) @var type: (_) @vartype)
(use_declaration argument: (_) @use)
"""
_JAVA: Final = """
(class_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(annotation_type_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @field
(enum_constant name: (identifier) @name) @constant
(method_invocation !object name: (identifier) @call)
(method_invocation object: (_) @on name: (identifier) @call)
(method_reference . (_) @on (identifier) @ref .)
(object_creation_expression type: (type_identifier) @call)
(object_creation_expression type: (generic_type . (type_identifier) @call))
(type_identifier) @ref
(identifier) @ref
(formal_parameter type: (_) @vartype name: (identifier) @var)
(local_variable_declaration type: (_) @vartype declarator: (variable_declarator name: (identifier) @var))
(field_declaration type: (_) @vartype declarator: (variable_declarator name: (identifier) @var))
(import_declaration) @use
"""
_C_SHARED: Final = """
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))) @function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @declared_function
(declaration declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name))) @declared_function
(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @struct
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition declarator: (type_identifier) @name) @type
(preproc_def name: (identifier) @name) @constant
(preproc_function_def name: (identifier) @name) @macro
(translation_unit (declaration declarator: (init_declarator declarator: (identifier) @name)) @variable)
(call_expression function: (identifier) @call)
(call_expression function: (field_expression argument: (_) @on field: (field_identifier) @call))
(type_identifier) @ref
(identifier) @ref
(parameter_declaration type: (_) @vartype declarator: (identifier) @var)
(parameter_declaration type: (_) @vartype declarator: (pointer_declarator declarator: (identifier) @var))
(declaration type: (_) @vartype declarator: (identifier) @var)
(declaration type: (_) @vartype declarator: (init_declarator declarator: (identifier) @var))
(declaration type: (_) @vartype declarator: (init_declarator declarator: (pointer_declarator
  declarator: (identifier) @var)))
(preproc_include path: [(string_literal) (system_lib_string)] @module)
"""
_CPP: Final = """
(class_specifier name: (type_identifier) @name body: (_)) @class
(namespace_definition name: (_) @name) @module
(function_definition declarator: (function_declarator
  declarator: [(field_identifier) (qualified_identifier) (destructor_name) (operator_name)] @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator
  declarator: [(field_identifier) (qualified_identifier)] @name))) @function
(function_definition declarator: (reference_declarator (function_declarator
  declarator: [(identifier) (field_identifier) (qualified_identifier) (operator_name)] @name))) @function
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @declared_method
(field_declaration declarator: [(pointer_declarator (function_declarator declarator: (field_identifier) @name))
  (reference_declarator (function_declarator declarator: (field_identifier) @name))]) @declared_method
(alias_declaration name: (type_identifier) @name) @type
(call_expression function: (qualified_identifier scope: (_) @on name: (identifier) @call))
(call_expression function: (template_function name: (identifier) @call))
(new_expression type: (type_identifier) @call)
(parameter_declaration type: (_) @vartype declarator: (reference_declarator (identifier) @var))
(declaration type: (_) @vartype declarator: (init_declarator declarator: (reference_declarator (identifier) @var)))
"""

QUERIES: Final = {
    "javascript": _SCRIPT + _JSX + _JAVASCRIPT,
    "typescript": _SCRIPT + _TYPED,
    "tsx": _SCRIPT + _TYPED + _JSX,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
    "c": _C_SHARED,
    "cpp": _C_SHARED + _CPP,
}

PACKAGES: Final = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
}
"""The package of each grammar and the function in it that gives the language."""
