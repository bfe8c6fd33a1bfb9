import { invalidParams, RPC_CODES, RpcError } from '../../rpc-error.ts'
import type { PrimaryChain } from '../chain.ts'
import { SLOTS_PER_EPOCH } from '../timeline.ts'
import { API_VERSION, configAt, type Methods, type Params, u64At, viewFor } from './params.ts'

export const clusterMethods: Methods = {
  getHealth: () => 'ok',
  getVersion: () => ({ 'solana-core': API_VERSION, 'feature-set': 0 }),
  getGenesisHash: ({ network }) => network.genesisHash,
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

  getFirstAvailableBlock: (chain) => chain.firstSlot(),

  getBlockTime: (chain, params) => chain.blockTime(slotAt(chain, params)),

  /** The block without its contents. */
  getBlock(chain, params) {
    const slot = slotAt(chain, params)
    if (configAt(params, 1).transactionDetails !== 'none')
      throw invalidParams('this chain returns blocks only with transactionDetails `none`')
    return { blockHeight: chain.timeline.heightOf(slot), blockTime: chain.blockTime(slot), parentSlot: slot - 1 }
  },

  getMinimumBalanceForRentExemption: (chain, params) => chain.svm.minimumBalanceForRentExemption(u64At(params, 0)),
}

/** A slot that the node has. */
function slotAt(chain: PrimaryChain, params: Params): number {
  const slot = Number(u64At(params, 0))
  const first = chain.firstSlot()
  if (slot < first) {
    const message = `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`
    throw new RpcError(RPC_CODES.blockCleanedUp, message)
  }
  if (slot > chain.view('processed').slot)
    throw new RpcError(RPC_CODES.blockNotAvailable, `Block not available for slot ${slot}`)
  return slot
}
