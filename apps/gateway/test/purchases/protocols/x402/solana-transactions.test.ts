// Transactions that no stock client creates: they try to spend the gateway's coins or to hide the payer.

import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  partiallySignTransactionMessageWithSigners,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { getApproveInstruction, getTransferCheckedInstruction } from '@solana-program/token'
import type { X402Leg, X402Quote } from '@svc/api/x402'
import { DEMO_PAYERS, FAUCET, MINTS, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { send, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { blockUsdc } from '@svc/devnet/usdc-issuer'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  asRequirements,
  encoded,
  expectRefused,
  legOn,
  pay,
  post,
  startX402Testbed,
  treasuryUsdc,
  type X402Testbed,
} from './x402-testbed.ts'

let testbed: X402Testbed
let payer: KeyPairSigner
let leg: X402Leg
beforeAll(async () => {
  testbed = await startX402Testbed()
  payer = await signerOf(DEMO_PAYERS[1]!)
})
afterAll(() => testbed.stop())
beforeEach(async () => {
  leg = legOn('primary', (await post<X402Quote>(testbed.url, { units: 1 })).body)
})

const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111')

function computeBudget(kind: 2 | 3, value: number): Instruction {
  const data = new Uint8Array(kind === 2 ? 5 : 9)
  data[0] = kind
  new DataView(data.buffer).setUint32(1, value, true)
  return { programAddress: COMPUTE_BUDGET, data }
}

async function transfer(authority: KeyPairSigner, owner: Address = authority.address): Promise<Instruction> {
  return getTransferCheckedInstruction({
    source: await tokenAccountOf(owner, 'USDC'),
    mint: MINTS.USDC.mint,
    destination: address(leg.extra.token_account!),
    authority,
    amount: BigInt(leg.amount),
    decimals: 6,
  })
}

function memo(...accounts: Instruction['accounts'] & object): Instruction {
  return { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3, accounts, data: Buffer.from(leg.extra.memo!) }
}

async function newest() {
  const { value } = await createSolanaRpc(testbed.chains.primary.url).getLatestBlockhash().send()
  return value
}

/** Sends a transaction signed by everyone except the fee payer. */
async function showTransaction(instructions: Instruction[], lifetime?: Awaited<ReturnType<typeof newest>>) {
  const blockhash = lifetime ?? (await newest())
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(FAUCET.address, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(blockhash, paid),
    (living) => appendTransactionMessageInstructions(instructions, living),
  )
  const transaction = getBase64EncodedWireTransaction(await partiallySignTransactionMessageWithSigners(message))
  const accepted = asRequirements(leg)
  return pay(testbed.url, encoded({ x402Version: 2, accepted, payload: { transaction } }))
}

async function refused(instructions: Instruction[], reason: string) {
  const before = await treasuryUsdc('primary', testbed.chains)
  expectRefused(await showTransaction(instructions), reason)
  expect(await treasuryUsdc('primary', testbed.chains)).toBe(before)
}

const budget = [computeBudget(2, 20_000), computeBudget(3, 1)]

it('the unchanged transaction is accepted', async () => {
  const { status, body } = await showTransaction([...budget, await transfer(payer), memo()])
  expect(status, JSON.stringify(body)).toBe(200)
})

it('tokens frozen by their issuer are refused with that reason, and accepted once they are released', async () => {
  const release = await blockUsdc(testbed.chains, payer.address)
  const instructions = [...budget, await transfer(payer), memo()]
  const { body } = await showTransaction(instructions)
  expect(body).toMatchObject({
    message: expect.stringContaining('frozen'),
    details: { reason: 'transaction_simulation_failed' },
  })
  await release()
  expect((await showTransaction(instructions)).status).toBe(200)
})

it('no instruction may use the fee payer as an account, because a program could spend its coins', async () => {
  const feePayer = { address: FAUCET.address, role: AccountRole.READONLY_SIGNER }
  await refused([...budget, await transfer(payer), memo(feePayer)], 'fee_payer_in_instruction')
})

it('a transaction cannot move coins of the fee payer', async () => {
  const source = { address: FAUCET.address } as KeyPairSigner
  const theft = { ...getTransferSolInstruction({ source, destination: payer.address, amount: 1_000_000_000n }) }
  const accounts = [{ address: FAUCET.address, role: AccountRole.WRITABLE_SIGNER }, theft.accounts[1]]
  await refused([...budget, await transfer(payer), { ...theft, accounts }, memo()], 'fee_payer_in_instruction')
})

it('AMB-75 a delegate cannot buy with the tokens of another owner', async () => {
  const owner = await signerOf(DEMO_PAYERS[2]!)
  const source = await tokenAccountOf(owner.address, 'USDC')
  const approve = getApproveInstruction({ source, delegate: payer.address, owner, amount: 1_000_000n })
  await send(createSolanaRpc(testbed.chains.primary.url), owner, [approve])
  await refused([...budget, await transfer(payer, owner.address), memo()], 'payer_unclear')
})
