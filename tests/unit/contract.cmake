foreach(name figures matrix manifest run spec)
    ssan_test(contract_${name} SOURCES contract_${name}.c LINKS ssan_contract)
endforeach()
