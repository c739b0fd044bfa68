b"ok \xff".decode()
