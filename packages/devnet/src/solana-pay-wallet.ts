// A wallet that does not know gateways and pays by the Solana Pay specification: a memo, and right after it the
// transfer, which names each reference as one more account. It sets a compute budget, as wallets on phones do.

import { AccountRole, address, createSolanaRpc, type Instruction } from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getTransferCheckedInstruction } from '@solana-program/token'
import type { DEMO_PAYERS } from './primary-chain/dev-accounts.ts'
import { send, signerOf } from './primary-chain/dev-client.ts'

type Rpc = ReturnType<typeof createSolanaRpc>

const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111')
/** 200,000 units, at a price of 1,000 micro-lamports each. */
const BUDGET: Instruction[] = [
  { programAddress: COMPUTE_BUDGET, data: new Uint8Array([2, 0x40, 0x0d, 3, 0]) },
  { programAddress: COMPUTE_BUDGET, data: new Uint8Array([3, 0xe8, 3, 0, 0, 0, 0, 0, 0]) },
]
const SOL_DECIMALS = 9

/** Pays what the URL asks for, and returns the transaction. */
export async function paySolanaPayUrl(
  rpcUrl: string,
  payer: (typeof DEMO_PAYERS)[number],
  text: string,
): Promise<string> {
  const rpc = createSolanaRpc(rpcUrl)
  const url = new URL(text)
  const authority = await signerOf(payer)
  const transfer = await transferOf(rpc, url, authority)
  const references = url.searchParams.getAll('reference').map((reference) => ({
    address: address(reference),
    role: AccountRole.READONLY,
  }))
  const memo = url.searchParams.get('memo')
  const memos =
    memo === null ? [] : [getAddMemoInstruction({ memo }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })]
  const named = { ...transfer, accounts: [...(transfer.accounts ?? []), ...references] }
  return send(rpc, authority, [...BUDGET, ...memos, named])
}

async function transferOf(
  rpc: Rpc,
  { pathname, searchParams }: URL,
  authority: Awaited<ReturnType<typeof signerOf>>,
): Promise<Instruction> {
  const recipient = address(pathname)
  const amount = searchParams.get('amount') ?? ''
  const token = searchParams.get('spl-token')
  if (token === null)
    return getTransferSolInstruction({
      source: authority,
      destination: recipient,
      amount: atomicAmount(amount, SOL_DECIMALS),
    })
  const mint = address(token)
  const { tokenProgram, decimals } = await mintAt(rpc, token)
  const accountOf = async (owner: typeof recipient) => (await findAssociatedTokenPda({ owner, mint, tokenProgram }))[0]
  return getTransferCheckedInstruction(
    {
      source: await accountOf(authority.address),
      mint,
      destination: await accountOf(recipient),
      authority,
      amount: atomicAmount(amount, decimals),
      decimals,
    },
    { programAddress: tokenProgram },
  )
}

/** Where the decimals are in the account of a mint, of either token program. */
const DECIMALS_AT = 44

async function mintAt(rpc: Rpc, mint: string) {
  const { value } = await rpc.getAccountInfo(address(mint), { encoding: 'base64' }).send()
  if (!value) throw new Error(`${mint} is not on this chain`)
  return { tokenProgram: value.owner, decimals: Buffer.from(value.data[0], 'base64').readUInt8(DECIMALS_AT) }
}

/** By the specification: no exponent, a zero before the point, and no more decimals than the asset has. */
function atomicAmount(text: string, decimals: number): bigint {
  const [, whole = '', fraction = ''] = /^(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === '' || fraction.length > decimals) throw new Error(`not an amount of Solana Pay: ${text}`)
  return BigInt(whole + fraction.padEnd(decimals, '0'))
}
