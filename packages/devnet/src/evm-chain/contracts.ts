import { type Address, type Hex, parseAbi } from 'viem'
import compiled from './contracts/compiled.json' with { type: 'json' }

export type Token = { address: Address; decimals: number; code: Hex }

/** USDC has its real address of chain 143, since wallets sign for it. The others have the end of keccak256('svc dev token ' + ticker). */
export const TOKENS = {
  USDC: { address: '0x754704Bc059F8C67012fEd69BC8A327a5aafb603', decimals: 6, code: hex(compiled.Usdc.code) },
  USDT0: { address: '0xa983746D5319392117FFCED47bC2B49637dC62c8', decimals: 6, code: hex(compiled.Usdt0.code) },
  WETH: { address: '0x860b4425b8B21De72A1E0b5BfAb059eEa6A9912a', decimals: 18, code: hex(compiled.Weth.code) },
} as const satisfies Record<string, Token>

export const MULTICALL3 = {
  address: '0xcA11bde05977b3631167028862bE2a173976CA11',
  code: hex(compiled.Multicall3.code),
} as const

/** Contracts that hostile payments are made of: code to deploy, and how to call it. */
export const FIXTURES = {
  fakeToken: {
    initCode: hex(compiled.FakeToken.initCode),
    abi: parseAbi(['function emitTransfer(address from, address to, uint256 value)']),
  },
  forwarder: {
    initCode: hex(compiled.Forwarder.initCode),
    abi: parseAbi(['function forward(address to) payable']),
  },
} as const

/** Takes the place of USDC, whose balances it keeps, with `hardhat_setCode`. */
export const BLOCKING_USDC = {
  code: hex(compiled.BlockingUsdc.code),
  abi: parseAbi([
    'function pause()',
    'function unpause()',
    'function blacklist(address account)',
    'function unBlacklist(address account)',
  ]),
} as const

export const MINT_ABI = parseAbi(['function mint(address to, uint256 value)'])

// JSON imports type as plain strings; the compiler output is 0x-prefixed by compile.ts.
function hex(text: string): Hex {
  return text as Hex
}
