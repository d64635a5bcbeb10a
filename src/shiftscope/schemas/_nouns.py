"""Nouns of everyday photographs, under the kinds they belong to, each with its plural.

A thing called "cows" answers to cow, and one called "cow" to cows: annotators use either for a group. What
has no separate plural (sheep, jeans) or means something else in it (glasses) is listed as such.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..schema import Words

# kind: the nouns it contains, kinds of their own among them.
_KINDS = {
    "person": """man, woman, child, player, sports person, worker, passenger, pedestrian, customer,
        spectator, family, couple, crowd, audience, parent, visitor, tourist, student, friend, individual,
        pilot, driver, rider, cyclist, biker, swimmer, hiker, fisherman, jockey, cowboy, soldier, performer,
        musician, bride, groom, twins, mannequin""",
    "man": "guy, gentleman, father, policeman, fireman, groom, husband",
    "woman": "lady, mother, bride, wife, ballerina",
    "child": "boy, girl, kid, baby, toddler, daughter, son, infant",
    "worker": """chef, cook, baker, waiter, waitress, bartender, farmer, officer, policeman, fireman,
        doctor, nurse, teacher, employee, vendor, bus driver, businessman, conductor, engineer""",
    "player": "baseball player, soccer player, tennis player, batter, pitcher, catcher, umpire, goalie",
    "sports person": "athlete, skater, skateboarder, surfer, skier, snowboarder, coach, jockey",
    "he": "man, boy, son",
    "she": "woman, girl, daughter",
    "animal": """bird, cow, horse, dog, cat, bear, sheep, goat, pig, elephant, giraffe, zebra, monkey,
        lion, tiger, leopard, cheetah, wolf, fox, deer, antelope, gazelle, moose, elk, buffalo, bison,
        camel, llama, donkey, mule, rabbit, squirrel, raccoon, mouse, rat, hamster, rhino, hippo, kangaroo,
        koala, seal, whale, dolphin, shark, fish, frog, turtle, snake, lizard, alligator, crocodile,
        dinosaur, crab, insect, snail, spider, panda, boar, fawn""",
    "cow": "bull, calf, ox, cattle",
    "horse": "pony, foal, colt",
    "dog": "puppy, bulldog, poodle, terrier",
    "cat": "kitten",
    "bear": "polar bear, cub, grizzly bear",
    "sheep": "lamb, ram",
    "rabbit": "bunny",
    "monkey": "gorilla, ape, chimpanzee",
    "bird": """eagle, owl, hawk, parrot, pigeon, seagull, duck, goose, swan, pelican, penguin, ostrich,
        flamingo, peacock, crow, sparrow, chicken, rooster, hen, turkey, heron, stork, hummingbird""",
    "insect": "bee, butterfly, fly, ant, dragonfly, ladybug",
    "furniture": """chair, table, desk, bed, couch, cabinet, shelf, drawer, dresser, nightstand, closet,
        wardrobe, cupboard, tv stand, entertainment center, stool, ottoman, bench, bookcase, crib, vanity,
        chest""",
    "chair": "armchair, office chair, beach chair, lawn chair, rocking chair, folding chair, bar stool",
    "table": "coffee table, dining table, end table, side table, picnic table, kitchen table",
    "desk": "computer desk",
    "couch": "sofa, love seat",
    "bed": "bunk bed",
    "cabinet": "medicine cabinet, kitchen cabinet, file cabinet",
    "shelf": "bookshelf",
    "clothing": """shirt, pants, shorts, jeans, skirt, dress, gown, suit, jacket, coat, sweater, vest,
        hat, glove, mitten, sock, stocking, leggings, tights, scarf, tie, bow tie, uniform, outfit, costume,
        robe, apron, swimsuit, wetsuit, snowsuit, jumpsuit, pajamas, kimono, underwear, bra, cloak, garment,
        footwear, trunks, overalls, blouse, undershirt, jersey, snow pants, cape, veil, baseball mitt""",
    "shirt": "t-shirt, dress shirt, polo shirt, tank top, sweatshirt, blouse, undershirt, jersey, hoodie",
    "pants": "jeans, trousers, slacks, khakis, snow pants, sweat pants, capris",
    "jacket": "blazer, safety jacket, life jacket, ski jacket, windbreaker",
    "coat": "raincoat, lab coat, trench coat",
    "sweater": "cardigan",
    "swimsuit": "bikini, bathing suit",
    "hat": "cap, beanie, cowboy hat, chef hat, straw hat, helmet, visor, beret",
    "cap": "baseball cap",
    "footwear": "shoe, boot, sandal, sneaker, flip flop, heel, slipper, skate, cleat",
    "shoe": "sneaker, heel, sandal",
    "accessory": """glasses, sunglasses, goggles, watch, bracelet, necklace, earring, ring, jewelry,
        belt, headband, wristband, bandana, mask, face mask, crown, tiara, umbrella, bag, wallet, wig,
        armband, eye glasses""",
    "glasses": "eye glasses, sunglasses",
    "bag": "backpack, purse, handbag, suitcase, luggage, shopping bag, trash bag, plastic bag, pouch",
    "vehicle": """car, truck, bus, train, van, motorcycle, bicycle, scooter, aircraft, watercraft,
        tractor, ambulance, trolley, tram, wagon, carriage, cart, trailer, shuttle, bulldozer, segway""",
    "car": "taxi, cab, jeep, suv, sedan, police car, convertible, race car",
    "truck": "fire truck, pickup truck, garbage truck, tow truck, dump truck",
    "bus": "school bus, double decker bus",
    "train": "locomotive, train car, train engine, caboose",
    "van": "minivan",
    "motorcycle": "motorbike",
    "bicycle": "bike",
    "bike": "bicycle",
    "aircraft": "airplane, plane, jet, helicopter, hot air balloon",
    "airplane": "jet, plane",
    "watercraft": "boat, ship, canoe, kayak, sailboat, raft, yacht, ferry, cruise ship",
    "boat": "canoe, kayak, sailboat, rowboat, motorboat",
    "food": """fruit, vegetable, meat, baked good, dessert, fast food, sauce, soup, salad, sandwich,
        cheese, egg, rice, pasta, noodles, bean, nut, cereal, omelette, burrito, taco, sushi, seafood,
        snack, chips, popcorn, mashed potatoes, oatmeal, yogurt, butter, honey, jam, jelly, tofu, hummus,
        peanut butter, meal, ingredient, candy, cracker, dip, broth""",
    "fruit": """apple, banana, orange, lemon, lime, grape, grapefruit, strawberry, blueberry, raspberry,
        blackberry, cherry, peach, pear, plum, pineapple, mango, kiwi, melon, watermelon, coconut, papaya,
        berry, fig, cranberry, avocado, pomegranate""",
    "vegetable": """carrot, broccoli, tomato, potato, onion, pepper, lettuce, cabbage, cucumber, corn,
        pea, celery, mushroom, spinach, cauliflower, asparagus, artichoke, eggplant, zucchini, squash,
        pumpkin, radish, beet, garlic, pickle, olive, green bean, sweet potato, bell pepper, parsley, basil,
        cilantro, kale, herb, leek""",
    "meat": """beef, pork, ham, bacon, sausage, steak, chicken, turkey, pepperoni, salami, meatball,
        rib, roast beef, chicken breast, burger, hot dog""",
    "seafood": "shrimp, salmon, lobster, clam, oyster, tuna",
    "baked good": """bread, bagel, bun, roll, loaf, biscuit, cookie, croissant, muffin, pastry, pie,
        donut, pretzel, toast, tortilla, pita, waffle, pancake, cake, scone, crust, baguette""",
    "pastry": "croissant, muffin, danish, donut, scone",
    "cake": "birthday cake, wedding cake, cupcake, cheesecake",
    "dessert": """cake, ice cream, pie, brownie, cookie, cupcake, pudding, fudge, candy, chocolate,
        cheesecake, donut""",
    "fast food": "pizza, hamburger, cheeseburger, hot dog, fries, taco, sandwich, burger",
    "burger": "hamburger, cheeseburger",
    "sauce": """ketchup, mustard, mayonnaise, gravy, salad dressing, tomato sauce, soy sauce, pesto,
        salsa, syrup""",
    "ingredient": "salt, sugar, flour, dough, oil, olive oil, vinegar, spice, powdered sugar",
    "nut": "almond, walnut, peanut, cashew, pecan",
    "drink": """water, coffee, tea, juice, wine, beer, soda, milk, lemonade, cocktail, champagne,
        smoothie, beverage, alcohol, cappuccino, espresso, liquor, orange juice, milkshake""",
    "beverage": "drink",
    "liquid": "drink, oil, sauce",
    "device": """camera, phone, computer, monitor, screen, television, keyboard, mouse, computer mouse,
        remote control, speaker, printer, charger, calculator, microphone, headphones, earphones, ipod,
        router, tablet, radio, clock, dvd player, game controller, wii controller, controller, console,
        stereo, projector, fan, modem, copier""",
    "camera": "video camera",
    "phone": "cell phone, telephone, smart phone",
    "computer": "laptop, desktop computer, tablet",
    "remote control": "remote, game controller, wii controller",
    "appliance": """refrigerator, oven, microwave, stove, dishwasher, toaster, blender, mixer, coffee
        maker, kettle, washing machine, dryer, freezer, hair dryer, heater, air conditioner, vacuum, food
        processor, toaster oven, microwave oven, rice cooker, waffle maker, ice maker, water heater""",
    "container": """box, bottle, jar, can, canister, bowl, cup, basket, bucket, barrel, crate, carton,
        vase, pot, tray, trash can, jug, bin, tub, lunch box, cereal box, tin, pitcher, water bottle, wine
        bottle, beer can, planter""",
    "bottle": "water bottle, wine bottle, beer bottle, ketchup bottle, soap bottle",
    "utensil": "fork, knife, spoon, chopsticks, spatula, ladle, whisk, tongs, butter knife",
    "cooking utensil": """spatula, ladle, whisk, tongs, pan, pot, kettle, grater, cutting board, wok,
        rolling pin""",
    "tableware": """plate, cup, bowl, mug, saucer, glass, wine glass, napkin, silverware, utensil,
        coffee mug, teapot""",
    "cup": "mug, coffee cup, coffee mug",
    "building": """house, church, tower, barn, skyscraper, apartment building, castle, cabin, hut,
        garage, shed, cathedral, clock tower, temple, lighthouse, home, palace, greenhouse""",
    "place": """street, road, sidewalk, beach, field, park, farm, zoo, forest, ocean, lake, river,
        mountain, hill, airport, train station, station, parking lot, restaurant, store, shop, market,
        school, library, museum, hotel, church, kitchen, bathroom, bedroom, living room, dining room,
        office, hallway, yard, backyard, courtyard, garden, city, town, village, stadium, court, platform,
        plaza, pier, dock, harbor, shore, runway, pavement, walkway, path, pasture, meadow, desert, pond,
        pool, ground, floor, sand, grass, hilltop, highway, railroad, crosswalk, bridge, ski slope, swamp,
        hangar, terminal, stage, cafe, bakery, gas station, mall""",
    "room": "kitchen, bathroom, bedroom, living room, dining room, office, attic, classroom, hotel room",
    "road": "street, highway, path, pavement, sidewalk, walkway, runway, driveway, lane, crosswalk",
    "plant": "tree, bush, flower, grass, fern, cactus, vine, ivy, moss, weed, hedge, shrub, bamboo, herb",
    "tree": "palm tree, pine tree, oak tree, christmas tree",
    "flower": "rose, tulip, daisy, sunflower, lily, orchid, blossom, daffodil",
    "toy": """doll, teddy bear, stuffed animal, stuffed bear, rubber duck, lego, balloon, kite, frisbee,
        toy car, action figure, puzzle, stuffed dog""",
    "instrument": "guitar, piano, drum, trumpet, violin, flute, saxophone, harp",
    "weapon": "gun, rifle, sword, spear, cannon, bow, dagger",
    "sign": "street sign, stop sign, traffic sign, parking sign",
    "symbol": "letter, number, logo, arrow, word, star",
    "office supplies": "pen, pencil, scissors, stapler, notebook, binder, eraser, envelope, paper, marker",
    "ball": "soccer ball, tennis ball, baseball, basketball, football, volleyball",
    "racket": "tennis racket",
    "bat": "baseball bat",
    "lamp": "table lamp, floor lamp, desk lamp",
    "light": "street light, traffic light, light bulb, lamp, headlight, sconce",
    "textile": """towel, blanket, sheet, curtain, pillow, tablecloth, rug, carpet, bedspread, comforter,
        quilt, napkin""",
}

_SAME_IN_PLURAL = """sheep, deer, fish, moose, bison, cattle, clothing, furniture, jewelry, luggage,
    footwear, underwear, seafood, silverware, broccoli, corn, spinach, rice, pasta, noodles, bread, meat,
    beef, pork, bacon, shorts, pants, jeans, trousers, slacks, khakis, trunks, leggings, tights, pajamas,
    overalls, capris, glasses, sunglasses, goggles, headphones, earphones, scissors, tongs, chopsticks,
    chips, fries, twins, glass, potatoes, supplies, he, she, water, sand, grass, aircraft, watercraft, food"""
_IRREGULAR = {
    "person": "people",
    "wife": "wives",
    "ottoman": "ottomans",
    "man": "men",
    "woman": "women",
    "child": "children",
    "mouse": "mice",
    "goose": "geese",
    "ox": "oxen",
    "leaf": "leaves",
    "shelf": "shelves",
    "bookshelf": "bookshelves",
    "knife": "knives",
    "calf": "calves",
    "wolf": "wolves",
    "loaf": "loaves",
    "scarf": "scarves",
    "cactus": "cacti",
    "hero": "heroes",
    "potato": "potatoes",
    "tomato": "tomatoes",
    "mango": "mangoes",
    "foot": "feet",
    "tooth": "teeth",
}
# Nouns that no kind contains but that are annotated in either number.
_LOOSE = """window, door, leaf, cloud, wheel, leg, ear, eye, hand, foot, tooth, spot, stripe, rock, book,
    picture, wire, cable, rope, pole, post, fence, wall, building, chimney, flag, candle, card, tile, step,
    letter, number, cone, wing, tire, helmet, skateboard, surfboard, ski, snowboard, racket, cushion, magnet,
    button, brick"""


def _listed(nouns: str) -> Iterator[str]:
    return (" ".join(noun.split()) for noun in nouns.split(","))


_UNCHANGED = frozenset(_listed(_SAME_IN_PLURAL))


def plural(noun: str) -> str:
    """The noun as it names several: cow → cows, policeman → policemen; itself if it has no other form."""
    if noun in _UNCHANGED:
        return noun
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    head, space, last = noun.rpartition(" ")
    if space:
        return f"{head} {plural(last)}"
    if noun.endswith("man"):
        return f"{noun[:-3]}men"
    if noun.endswith(("s", "x", "ch", "sh")):
        return f"{noun}es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}s"


def kinds_of_nouns() -> Words:
    """(kind, every noun it contains, through kinds inside kinds, in either number), a kind for each noun."""
    inside = {kind: tuple(_listed(nouns)) for kind, nouns in _KINDS.items()}
    nouns = dict.fromkeys([*inside, *(n for members in inside.values() for n in members), *_listed(_LOOSE)])
    return tuple(
        pair
        for noun in nouns
        for pair in _either_number(noun, tuple(dict.fromkeys(_contained(noun, inside, (noun,)))))
    )


def _contained(kind: str, inside: dict[str, tuple[str, ...]], above: tuple[str, ...]) -> Iterator[str]:
    """The nouns inside a kind; two kinds that contain each other (bike, bicycle) mean the same."""
    for noun in inside.get(kind, ()):
        if noun not in above:
            yield noun
            yield from _contained(noun, inside, (*above, noun))


def _either_number(noun: str, contained: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    several = plural(noun)
    members = tuple(dict.fromkeys(form for n in contained for form in (n, plural(n))))
    if several == noun:
        if members:
            yield noun, members
        return
    yield noun, (several, *members)
    yield several, (noun, *members)
