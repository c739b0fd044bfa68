class Account:
    def __init__(self, balance):
        self.balance = balance

    def withdraw(self, amount):
        if amount > self.balance:
            raise PermissionError(f"{amount} exceeds {self.balance}")
        self.balance -= amount


account = Account(10)
account.withdraw(4)
print(account.balance)
account.withdraw(7)
