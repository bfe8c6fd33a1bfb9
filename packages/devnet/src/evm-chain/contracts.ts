import { ASSETS, type Asset, isCoin, type TickerOn } from '@svc/api/assets'
import { EVM, type EvmNetwork } from '@svc/api/networks'
import { type Address, concat, getAddress, type Hex, keccak256, numberToHex, parseAbi, slice, stringToHex } from 'viem'
import compiled from './contracts/compiled.json' with { type: 'json' }

export type Token = { ticker: string; address: Address; decimals: number; code: Hex }

/** The code in the first block. It must not change: stored chains are replayed on it. */
const GENESIS_CODE: ReadonlyMap<string, string> = new Map([
  ['USDC', compiled.Usdc.code],
  ['USDT0', compiled.Usdt0.code],
  ['WETH', compiled.Weth.code],
])

/** The tokens declared on a network. They keep their address there, if they have one, because wallets sign for it. */
export function tokensOf(assets: readonly Asset[], network: EvmNetwork = EVM): Token[] {
  const tokens = assets.filter((asset) => asset.network === network && !isCoin(asset))
  return tokens.map(({ ticker, decimals, address }) => ({
    ticker,
    address: getAddress(typeof address === 'string' ? address : madeUpAddress(ticker)),
    decimals,
    code: hex(GENESIS_CODE.get(ticker) ?? codeOf(ticker, decimals)),
  }))
}

/** The tokens of the built-in assets. */
// fromEntries returns plain strings.
export const TOKENS = Object.fromEntries(tokensOf(ASSETS).map((token) => [token.ticker, token])) as Readonly<
  Record<Exclude<TickerOn<'evm'>, 'MON'>, Token>
>

/** The first block of every chain has the tokens of `EVM`, at their addresses there. */
export function isOfGenesis({ ticker, address }: Token): boolean {
  return GENESIS_CODE.has(ticker) && Object.values(TOKENS).some((token) => token.address === address)
}

function madeUpAddress(ticker: string): Hex {
  return slice(keccak256(stringToHex(`svc dev token ${ticker}`)), -20)
}

/** `Token.sol` reads the values that follow its code. */
function codeOf(ticker: string, decimals: number): Hex {
  return concat([hex(compiled.Token.code), numberToHex(decimals, { size: 32 }), stringToHex(ticker, { size: 32 })])
}

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

/** Replaces the code of USDC by `hardhat_setCode`; the balances stay. */
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
