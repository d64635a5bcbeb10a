"""COCO: the 80 kinds of objects that have boxes, in the order in which YOLO numbers them."""

from ..english.word_lists import word_list, word_table
from ..schema import Attribute, Schema

NAMES = word_list("coco", "names")
KINDS = tuple(word_table("coco", "kinds").items())
SCHEMA = Schema(name="coco", attributes=(Attribute("name", NAMES, KINDS),), closed=False)
