"""VQA accuracy once more, slowly and straight from its description, to check the fast one against."""

import re
from fractions import Fraction

WORDS = dict(
    pair.split()
    for pair in """
    aint ain't|arent aren't|cant can't|couldve could've|couldnt couldn't|couldn'tve couldn't've|couldnt've couldn't've|
    didnt didn't|doesnt doesn't|dont don't|hadnt hadn't|hadnt've hadn't've|hadn'tve hadn't've|hasnt hasn't|
    havent haven't|hed he'd|hed've he'd've|he'dve he'd've|hes he's|howd how'd|howll how'll|hows how's|isnt isn't|
    itd it'd|itd've it'd've|it'dve it'd've|itll it'll|maam ma'am|mightnt mightn't|mightnt've mightn't've|
    mightn'tve mightn't've|mightve might've|mustnt mustn't|mustve must've|neednt needn't|notve not've|oclock o'clock|
    oughtnt oughtn't|ow's'at 'ow's'at|'ows'at 'ow's'at|'ow'sat 'ow's'at|shant shan't|shed've she'd've|
    she'dve she'd've|shouldve should've|shouldnt shouldn't|shouldnt've shouldn't've|shouldn'tve shouldn't've|
    somebody'd somebodyd|somebodyd've somebody'd've|somebody'dve somebody'd've|somebodyll somebody'll|
    somebodys somebody's|someoned someone'd|someoned've someone'd've|someone'dve someone'd've|someonell someone'll|
    someones someone's|somethingd something'd|somethingd've something'd've|something'dve something'd've|
    somethingll something'll|thats that's|thered there'd|thered've there'd've|there'dve there'd've|therere there're|
    theres there's|theyd they'd|theyd've they'd've|they'dve they'd've|theyll they'll|theyre they're|theyve they've|
    twas 'twas|wasnt wasn't|wed've we'd've|we'dve we'd've|weve we've|werent weren't|whatll what'll|whatre what're|
    whats what's|whatve what've|whens when's|whered where'd|wheres where's|whereve where've|whod who'd|
    whod've who'd've|who'dve who'd've|wholl who'll|whos who's|whove who've|whyll why'll|whyre why're|whys why's|
    wont won't|wouldve would've|wouldnt wouldn't|wouldnt've wouldn't've|wouldn'tve wouldn't've|yall y'all|
    yall'll y'all'll|y'allll y'all'll|yall'd've y'all'd've|y'alld've y'all'd've|y'all'dve y'all'd've|youd you'd|
    youd've you'd've|you'dve you'd've|youll you'll|youre you're|youve you've
    """.replace("\n", " ").split("|")
)
DIGITS = {"none": "0", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
          "seven": "7", "eight": "8", "nine": "9", "ten": "10"}  # fmt: skip
MARKS = [";", "/", "[", "]", '"', "{", "}", "(", ")", "=", "+", "\\", "_", "-", ">", "<", "@", "`", ",", "?", "!"]


def clean(text):
    return text.replace("\n", " ").replace("\t", " ").strip()


def normal(text):
    before = after = clean(text)
    for mark in MARKS:
        beside_blank = mark + " " in before or " " + mark in before
        comma_in_number = re.search("[0-9],[0-9]", before) is not None
        after = after.replace(mark, "" if beside_blank or comma_in_number else " ")
    kept = ""
    for k, letter in enumerate(after):
        lone = letter == "." and not after[k + 1 : k + 2].isdigit()
        kept += "" if lone else letter
    words = []
    for word in kept.lower().split():
        word = DIGITS.get(word, word)
        if word not in ("a", "an", "the"):
            words.append(WORDS.get(word, word))
    return " ".join(words)


def accuracy(said, answers, form, normalise):
    """Of one question, as an exact fraction."""
    if normalise != "never":
        said, answers = clean(said), [clean(a) for a in answers]
    if normalise == "always" or (normalise == "official" and len(set(answers)) > 1):
        said, answers = normal(said), [normal(a) for a in answers]
    if form == "thirds":
        return min(Fraction(sum(a == said for a in answers), 3), Fraction(1))
    each = []
    for k in range(len(answers)):
        others = answers[:k] + answers[k + 1 :]
        each.append(min(Fraction(sum(a == said for a in others), 3), Fraction(1)))
    return sum(each) / len(each)
