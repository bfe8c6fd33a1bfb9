import { RPC_CODES, RpcError } from '../../rpc-error.ts'
import { GENESIS_HASH } from '../dev-accounts.ts'
import { SLOTS_PER_EPOCH } from '../timeline.ts'
import { API_VERSION, configAt, type Methods, u64At, viewFor } from './params.ts'

export const clusterMethods: Methods = {
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': 0 }),
  getGenesisHash: () => GENESIS_HASH,
  getSlot: (chain, params) => viewFor(chain, configAt(params, 0)).slot,
  getBlockHeight: (chain, params) => viewFor(chain, configAt(params, 0)).height,

  getEpochInfo(chain, params) {
    const { slot, height } = viewFor(chain, configAt(params, 0))
    return {
      absoluteSlot: slot,
      blockHeight: height,
      epoch: Math.floor(slot / SLOTS_PER_EPOCH),
      slotIndex: slot % SLOTS_PER_EPOCH,
      slotsInEpoch: SLOTS_PER_EPOCH,
      transactionCount: chain.transactions().length,
    }
  },

  getBlockTime(chain, params) {
    const slot = u64At(params, 0)
    if (slot > BigInt(chain.view('processed').slot))
      throw new RpcError(RPC_CODES.blockNotAvailable, `Block not available for slot ${slot}`)
    return chain.blockTime(Number(slot))
  },

  getMinimumBalanceForRentExemption: (chain, params) => chain.svm.minimumBalanceForRentExemption(u64At(params, 0)),
}
