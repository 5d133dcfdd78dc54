ssan_fuzz(contract_spec SOURCES contract_spec.c LINKS ssan_contract)
