"""Wordings of actions, by form; `say.py` tells what the marks mean."""

from __future__ import annotations

ACTIVE: dict[str, tuple[str, ...]] = {
    "add": ("[add] {new} to the scene", "[put] {new} into the scene", "[bring] {new} into the scene"),
    "add_beside": (
        "[add] {new} {rel} {anchor}",
        "[put] {new} {rel} {anchor}",
        "[place] {new} {rel} {anchor}",
    ),
    "add_inheriting": (
        "[add] {new} that has the same {attribute} as {source}",
        "[put] {new} into the scene and [give] it the {attribute} of {source}",
    ),
    "add_beside_inheriting": (
        "[add] {new} {rel} {anchor} and [give] it the {attribute} of {source}",
        "[put] {new} {rel} {anchor} and [match] its {attribute} to that of {source}",
    ),
    "add_beside_copy": (
        "[clone] {source} and [put] the copy {rel} {anchor}",
        "[make] a copy of {source} and [set] it down {rel} {anchor}",
    ),
    "remove": ("[remove] {old} from the scene", "[take] away {old}", "[take] {old} out of the scene"),
    "remove_all": ("[remove] {old} from the scene", "[take] away {old}", "[clear] away {old}"),
    "change_color": (
        "[paint] {old} {value}",
        "[change] the color of {old} to {plain}",
        "[give] {old} the color {plain}",
    ),
    "change_color_all": (
        "[paint] {old} {value}",
        "[change] the color of {old} to {plain}",
        "[give] {old} the color {plain}",
    ),
    "change_material": ("[make] {old} {value}", "[change] the material of {old} to {plain}"),
    "change_material_all": ("[make] {old} {value}", "[change] the material of {old} to {plain}"),
    "change_size": ("[make] {old} {value}", "[{grow}] {old}", "[change] the size of {old} to {plain}"),
    "change_size_all": ("[make] {old} {value}", "[{grow}] {old}", "[change] the size of {old} to {plain}"),
    "change_shape": (
        "[turn] {old} into {a_value}",
        "[replace] {old} by {a_value} that is otherwise the same",
    ),
    "change_shape_all": ("[turn] {old} into {values}", "[reshape] {old} into {values}"),
    "move": (
        "[move] {old} {to} {anchor}",
        "[shift] {old} so that it stands {rel} {anchor}",
        "[pick] up {old} and [put] it down {rel} {anchor}",
    ),
    "put_on": (
        "[put] {old} on top of {anchor}",
        "[move] {old} onto {anchor}",
        "[lift] {old} onto {anchor}",
    ),
    "swap": ("[swap] {old} with {anchor}", "[let] {old} trade places with {anchor}"),
}
PASSIVE: dict[str, tuple[str, ...]] = {
    "add": ("{new} is added to the scene", "{new} appears in the scene", "{new} is put into the scene"),
    "add_beside": (
        "{new} is added {rel} {anchor}",
        "{new} appears {rel} {anchor}",
        "{new} is placed {rel} {anchor}",
    ),
    "add_inheriting": (
        "{new} that has the same {attribute} as {source} is added",
        "{new} is put into the scene and gets the {attribute} of {source}",
    ),
    "add_beside_inheriting": (
        "{new} is added {rel} {anchor} and gets the {attribute} of {source}",
        "{new} is placed {rel} {anchor} and takes its {attribute} from {source}",
    ),
    "add_beside_copy": (
        "{source} is cloned and the copy is put {rel} {anchor}",
        "a copy of {source} appears {rel} {anchor}",
    ),
    "remove": ("{old} is removed from the scene", "{old} disappears", "{old} is taken away"),
    "remove_all": ("{old} are removed from the scene", "{old} disappear", "{old} are taken away"),
    "change_color": (
        "{old} is painted {value}",
        "{old} turns {value}",
        "the color of {old} is changed to {plain}",
    ),
    "change_color_all": (
        "{old} are painted {value}",
        "{old} turn {value}",
        "the color of {old} is changed to {plain}",
    ),
    "change_material": ("{old} becomes {value}", "the material of {old} is changed to {plain}"),
    "change_material_all": ("{old} become {value}", "the material of {old} is changed to {plain}"),
    "change_size": ("{old} becomes {value}", "{old} is {grown}", "the size of {old} is changed to {plain}"),
    "change_size_all": (
        "{old} become {value}",
        "{old} are {grown}",
        "the size of {old} is changed to {plain}",
    ),
    "change_shape": ("{old} becomes {a_value}", "{old} is turned into {a_value}"),
    "change_shape_all": ("{old} become {values}", "{old} are turned into {values}"),
    "move": (
        "{old} is moved {to} {anchor}",
        "{old} is picked up and put down {rel} {anchor}",
        "{old} changes its place and now stands {rel} {anchor}",
    ),
    "put_on": (
        "{old} is put on top of {anchor}",
        "{old} is moved onto {anchor}",
        "{old} is lifted onto {anchor}",
    ),
    "swap": ("{old} is swapped with {anchor}", "{old} trades places with {anchor}"),
}
