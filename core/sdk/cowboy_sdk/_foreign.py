"""Functions of other networks' runtimes that this chain does not offer.

They exist so that actors written for those networks import cleanly; the host refuses each with `HostError` code 5
(forbidden) when it is called.
"""

from ._host import pvm_host
from .types import address_argument, token_argument


def fork_actor(endowment=0):
    return pvm_host.fork_actor(int(endowment))


def subscribe_event(emitter, topic, handler, gas_prepaid, bid=0, *, schema=None):
    return pvm_host.subscribe_event(
        address_argument(emitter), bytes(topic), str(handler), int(gas_prepaid), int(bid), schema
    )


def unsubscribe_event(sub_id):
    return pvm_host.unsubscribe_event(bytes(sub_id))


def force_unsubscribe_event(sub_id):
    pvm_host.force_unsubscribe_event(bytes(sub_id))


def update_bid(sub_id, additional_bid):
    return pvm_host.update_bid(bytes(sub_id), int(additional_bid))


def topup_subscription(sub_id, additional_gas):
    return pvm_host.topup_subscription(bytes(sub_id), int(additional_gas))


def intent_deposit(token_id, amount):
    pvm_host.intent_deposit(token_argument(token_id), amount)


def intent_withdraw(token_id, amount):
    pvm_host.intent_withdraw(token_argument(token_id), amount)


def offchain_image_initialize(image):
    pvm_host.offchain_image_initialize(image)


def offchain_image_update(expected, image):
    pvm_host.offchain_image_update(expected, image)
