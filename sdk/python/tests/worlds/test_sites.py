"""Pages and forms, in every world alike: on a devnet by a name and the devnet's own gateway."""


def test_a_site_is_visited(chain):
    site = chain.deploy("site.py")
    page = chain.visit(site, "GET", "/", query={"place": "work & play"})
    assert (page["status"], page["body"]) == (200, b"<p>0 at work &amp; play</p>")
    assert page["headers"]["content-type"][0].startswith("text/html")
    done = chain.visit(site, "POST", "/count", body='{"by": 2}', headers={"Content-Type": "application/json"})
    assert (done["status"], done["body"], done["headers"]["x-counted"]) == (201, b'{"count":2}', ["yes"])
    assert chain.visit(site, "GET", "/")["body"] == b"<p>2 at home</p>"
    assert chain.visit(site, "GET", "/nowhere")["status"] == 404
    assert chain.storage(site)["count"] == 2


def test_two_sites_are_apart(chain, bob):
    first, second = chain.deploy("site.py"), chain.deploy("site.py", sender=bob)
    chain.visit(second, "POST", "/count", body='{"by": 5}')
    assert chain.visit(first, "GET", "/")["body"] == b"<p>0 at home</p>"
    assert chain.visit(second, "GET", "/")["body"] == b"<p>5 at home</p>"
