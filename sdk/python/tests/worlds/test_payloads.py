"""Payloads: what a handler takes, and what is said to one that it does not take."""

import pytest
from cowboy_sdk.testing import ALICE


@pytest.fixture
def actor(chain):
    return chain.deploy("payloads.py", init=[ALICE, 5])


@pytest.mark.parametrize("init, terms", [([ALICE, 5, 7], 7), ({"token": ALICE, "price": 5}, 30), ([ALICE, 5], 30)])
def test_init_takes_a_list_or_a_dict_by_name(chain, init, terms):
    assert chain.query(chain.deploy("payloads.py", init=init), "terms") == [ALICE, 5, terms]


@pytest.mark.parametrize("init", [{"a": 1}, [1, 2], {}])
def test_init_gets_json_where_it_says_so(chain, init):
    assert chain.query(chain.deploy("json_init.py", init=init), "get") == init


@pytest.mark.parametrize(
    "handler, payload, result",
    [
        ("greet", None, "Hello, world!"),
        ("greet", "Ada", "Hello, Ada!"),
        ("greet", ["Ada"], "Hello, Ada!"),
        ("greet", {"name": "Ada"}, "Hello, Ada!"),
        ("greet", {}, "Hello, world!"),
        ("one", {"name": "Ada"}, "Ada"),
        ("ids", [1], [1]),
        ("ids", {"ids": [1]}, [1]),
        ("options", {"options": 1}, {"options": 1}),
        ("pay", {"to": "0x" + "a1" * 20, "amount": 3}, [ALICE, 3, ""]),
        ("pay", [ALICE, 3, "rent"], [ALICE, 3, "rent"]),
        ("as_json", {"price": 2, "paid": True}, [2, True]),
        ("as_json", [1.5], [1.5, False]),
        ("whole", {"payload": 1}, {"payload": 1}),
    ],
)
def test_what_a_handler_takes(chain, actor, handler, payload, result):
    assert chain.query(actor, handler, payload) == result


@pytest.mark.parametrize(
    "handler, payload, text",
    [
        ("one", None, "one() takes name: str: nothing was sent for 'name'"),
        ("one", 5, "one() takes name: str: 'name' has to be str, not int 5"),
        ("one", {"nom": "Ada"}, "one() takes name: str: send its value, or a dict with 'name' only, not dict {'nom': 'Ada'}"),
        ("one", True, "'name' has to be str, not bool True"),
        ("pay", None, "pay() takes to: Address, amount: int, note: str (optional): nothing was sent for 'to', 'amount'"),
        ("pay", [ALICE], "nothing was sent for 'amount'"),
        ("pay", {"amount": 1}, "nothing was sent for 'to'"),
        ("pay", {"to": ALICE, "sum": 1}, "there is no parameter 'sum'"),
        ("pay", [ALICE, "5"], "'amount' has to be int, not str '5'"),
        ("pay", [ALICE, True], "'amount' has to be int, not bool True"),
        ("pay", [ALICE, 5, None, 7], "4 values were sent, at most 3 are taken"),
        ("pay", "Ada", "send a list of these, or a dict by name, not str 'Ada'"),
        ("pay", ["0x12", 5], "'to': "),
        ("as_json", ["2"], "'price' has to be float, not str '2'"),
        ("ids", 5, "'ids' has to be list, not int 5"),
        ("options", [1], "'options' has to be dict, not list [1]"),
    ],
)
def test_what_it_does_not_take_is_named(chain, actor, handler, payload, text):
    with pytest.raises(Exception) as caught:
        chain.execute(actor, handler, payload)
    assert text in str(caught.value)


def test_missing_arguments_of_init_are_named(chain):
    with pytest.raises(TypeError) as caught:
        chain.deploy("payloads.py")
    assert "init() takes token: Address, price: int, period: int (optional): nothing was sent for 'token', 'price'" in str(caught.value)
