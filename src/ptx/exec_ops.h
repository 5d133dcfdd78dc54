/* Handlers of the executor that the parser puts into operations. */
#ifndef SSAN_PTX_EXEC_OPS_H
#define SSAN_PTX_EXEC_OPS_H

#include "ptx/lane.h"

/* exec_global.c, exec_shared.c, exec_local.c, exec_generic.c: op->a base address (0: none), imm
 * offset, width, count, extend; dst: slot, or with count > 1 index in the pool of `count` slots;
 * stores: the same in dst. aux: memory state. */
ptx_fn exec_load_global, exec_store_global, exec_load_shared, exec_store_shared, exec_load_local,
    exec_store_local, exec_load_generic, exec_store_generic, exec_load_frame, exec_store_frame,
    exec_load_param;
ptx_fn exec_copy; /* cp.async: a destination, b source, c slot of the source size or 0, imm bytes */
/* exec_atom.c: sub is enum atomic, extend enum atomic_type, b and c the values, dst 0 for red */
ptx_fn exec_atomic;
/* exec_ctl.c */
ptx_fn exec_call, exec_call_indirect, exec_jump, exec_leave, exec_barrier, exec_warp_sync;
/* exec_warp.c */
ptx_fn exec_shuffle, exec_vote, exec_match, exec_redux, exec_activemask, exec_elect;
/* exec_misc.c */
ptx_fn exec_nothing, exec_clock, exec_frame_address, exec_fence, exec_nanosleep, exec_isspacep,
    exec_rounded;

enum atomic {
    ATOMIC_add,
    ATOMIC_and,
    ATOMIC_or,
    ATOMIC_xor,
    ATOMIC_min,
    ATOMIC_max,
    ATOMIC_inc,
    ATOMIC_dec,
    ATOMIC_exch,
    ATOMIC_cas
};

enum atomic_type { ATOMIC_unsigned, ATOMIC_signed, ATOMIC_float };

enum ctl { CTL_ret, CTL_exit, CTL_trap };

enum barrier_form { BARRIER_sync, BARRIER_arrive, BARRIER_popc, BARRIER_and, BARRIER_or };

enum vote_form { VOTE_all, VOTE_any, VOTE_uni, VOTE_ballot };

enum shuffle_form { SHUFFLE_up, SHUFFLE_down, SHUFFLE_bfly, SHUFFLE_idx };

#endif
