def _operand(value):
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int):
        return Decimal(value)
    raise TypeError(f"conversion from {type(value).__name__} to Decimal is not supported")


def _written(parts):
    """The text of a number given as sign, digits and exponent."""
    if len(parts) != 3:
        raise ValueError("argument must be a sequence of length 3")
    sign, digits, exponent = parts
    if not isinstance(sign, int) or sign not in (0, 1):
        raise ValueError("sign must be an integer with the value 0 or 1")
    prefix = "-" if sign else ""
    if exponent == "F":
        return prefix + "Infinity"
    for digit in digits:
        if not isinstance(digit, int) or not 0 <= digit <= 9:
            raise ValueError("coefficient must be a tuple of digits")
    text = "".join([str(digit) for digit in digits])
    if exponent in ("n", "N"):
        return prefix + ("NaN" if exponent == "n" else "sNaN") + text.lstrip("0")
    if not isinstance(exponent, int):
        if isinstance(exponent, str):
            raise ValueError("string argument in the third position must be 'F', 'n' or 'N'")
        raise ValueError("exponent must be an integer")
    return f"{prefix}{text or '0'}E{exponent}"


def _invalid():
    return InvalidOperation([InvalidOperation])


def _by_magnitude(a, b, larger):
    if a.is_nan() or b.is_nan():
        return a.max(b) if larger else a.min(b)
    order = _decimal.order(a.copy_abs(), b.copy_abs())
    if order == 0:
        return a.max(b) if larger else a.min(b)
    chosen = a if (order > 0) == larger else b
    # Rounded, and a zero keeps its sign.
    return (+chosen).copy_sign(chosen)


def _next(number, up):
    if number.is_nan():
        return +number
    sign, digits, exponent = _decimal.parts(number)
    grows = up == (sign == 0)
    prefix = "-" if sign else ""
    if exponent == "F":
        return number if grows else Decimal(f"{prefix}{'9' * _PRECISION}E{_ETOP}")
    if number.is_zero():
        return Decimal(f"{'' if up else '-'}1E{_ETINY}")
    coefficient = int(digits)
    excess = len(digits) - _PRECISION
    exact = True
    if excess > 0:
        coefficient, rest = divmod(coefficient, 10**excess)
        exact = rest == 0
        exponent += excess
    else:
        places = max(min(-excess, exponent - _ETINY), 0)
        coefficient *= 10**places
        exponent -= places
    if exponent < _ETINY:
        coefficient, rest = divmod(coefficient, 10 ** min(_ETINY - exponent, len(digits) + 1))
        exact = exact and rest == 0
        exponent = _ETINY
    if grows:
        coefficient += 1
    elif exact:
        if coefficient == 10 ** (_PRECISION - 1) and exponent > _ETINY:
            coefficient = 10**_PRECISION - 1
            exponent -= 1
        else:
            coefficient -= 1
    if exponent + len(str(coefficient)) - 1 > _EMAX:
        return Decimal(f"{prefix}Infinity") if grows else Decimal(f"{prefix}{'9' * _PRECISION}E{_ETOP}")
    if coefficient == 10**_PRECISION:
        coefficient //= 10
        exponent += 1
    return Decimal(f"{prefix}{coefficient}E{exponent}")


def _logical(function, a, b):
    operands = []
    for number in (a, b):
        sign, digits, exponent = _decimal.parts(number)
        if sign or exponent != 0 or digits.strip("01"):
            raise _invalid()
        operands.append(int(digits[-_PRECISION:], 2))
    return Decimal(bin(function(*operands))[2:])


def _moved(number, places, around):
    if number.is_nan() or places.is_nan():
        return number + places
    sign, count, exponent = _decimal.parts(places)
    if exponent != 0 or int(count) > _PRECISION:
        raise _invalid()
    if number.is_infinite():
        return number
    count = -int(count) if sign else int(count)
    sign, digits, exponent = _decimal.parts(number)
    digits = ("0" * _PRECISION + digits)[-_PRECISION:]
    if around:
        digits = digits[count:] + digits[:count]
    elif count < 0:
        digits = digits[:count]
    else:
        digits = (digits + "0" * count)[-_PRECISION:]
    return Decimal(f"{'-' if sign else ''}{digits or '0'}E{exponent}")


def _power_modulo(base, exponent, modulo):
    base, exponent, modulo = _operand(base), _operand(exponent), _operand(modulo)
    for number in (base, exponent, modulo):
        if number.is_nan():
            return number + 0
    whole = [number for number in (base, exponent, modulo) if number.is_finite() and number == number.to_integral_value()]
    if len(whole) != 3 or exponent < 0 or not modulo or modulo.adjusted() >= _PRECISION or not base and not exponent:
        raise _invalid()
    result = pow(int(abs(base)), int(exponent), int(abs(modulo)))
    return Decimal(-result if base < 0 and int(exponent) % 2 else result)


