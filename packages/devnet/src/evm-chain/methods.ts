/** Requests that change the chain: carried out one at a time, and kept in the journal. */
export const CHANGES: ReadonlySet<string> = new Set([
  'eth_sendRawTransaction',
  'eth_sendTransaction',
  'evm_mine',
  'evm_revert',
  'evm_setAutomine',
  'evm_setBlockGasLimit',
  'evm_snapshot',
  'hardhat_dropTransaction',
  'hardhat_impersonateAccount',
  'hardhat_mine',
  'hardhat_setBalance',
  'hardhat_setCode',
  'hardhat_setCoinbase',
  'hardhat_setMinGasPrice',
  'hardhat_setNextBlockBaseFeePerGas',
  'hardhat_setNonce',
  'hardhat_setPrevRandao',
  'hardhat_setStorageAt',
  'hardhat_stopImpersonatingAccount',
])

/** Requests that run code without keeping what it does. */
export const CALLS: ReadonlySet<string> = new Set(['eth_call', 'eth_estimateGas'])

/** Requests that would make or drop blocks behind the journal's back, and what to do instead. */
export const REFUSED: ReadonlyMap<string, string> = new Map([
  ['evm_setIntervalMining', 'mine with evm_mine or hardhat_mine'],
  ['hardhat_reset', 'start another chain'],
])
