import { getBase58Decoder, type KeyPairSigner } from '@solana/kit'
import { getAddMemoInstruction, SUPPORTED_MEMO_PROGRAM_ADDRESSES } from '@solana-program/memo'
import { startFaultyNode, withResult } from '@svc/devnet/faulty-node'
import { utf8 } from '@svc/protocol/bytes'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Payments, paySol, SOL, startPayments, TO_TREASURY } from './payments.ts'

const OURS = `pr_${'0a'.repeat(16)}`
const FOREIGN = `pr_${'f9'.repeat(16)}`
const [V1, V3, V4] = SUPPORTED_MEMO_PROGRAM_ADDRESSES

describe('memos', () => {
  let payments: Payments
  let payer: KeyPairSigner
  beforeAll(async () => {
    payments = await startPayments()
    payer = payments.people.payer
  })
  afterAll(() => payments.stop())

  const memo = (text: string, programAddress: (typeof SUPPORTED_MEMO_PROGRAM_ADDRESSES)[number] = V3) =>
    getAddMemoInstruction({ memo: text }, { programAddress })
  const read = (tx: string, rpcUrl = payments.url) => payments.readerOf({ rpcUrls: [rpcUrl] }).read(tx, TO_TREASURY)

  it.each([
    ['v1', V1],
    ['v3', V3],
    ['v4', V4],
  ])('ADD-03 a memo of the program %s names the quote', async (_, program) => {
    const tx = await payments.send(payer, paySol(payer, SOL), memo(OURS, program))
    expect(await read(tx)).toMatchObject({ outcome: 'found', references: [OURS] })
  })

  it('ADD-03 all memos count, whatever surrounds the ids', async () => {
    const tx = await payments.send(
      payer,
      memo(`für ${OURS}, danke`, V1),
      paySol(payer, SOL),
      memo('thanks'),
      memo(`${FOREIGN}${OURS}`, V4),
    )
    expect(await read(tx)).toMatchObject({ references: [OURS, FOREIGN] })
  })

  // No available program calls the memo program, so the inner instruction is added to the node's answer.
  it.each([
    ['ADD-03 a memo made by another program counts', OURS, [OURS]],
    ['T-35 an inner memo is read up to the longest length', OURS + '.'.repeat(700), []],
  ])('%s', async (_, text, references) => {
    const tx = await payments.send(payer, paySol(payer, SOL), memo('outside'))
    const node = await startFaultyNode(
      payments.url,
      withResult('getTransaction', (result: { meta: object }) => {
        const data = getBase58Decoder().decode(utf8(text))
        const inner = { programIdIndex: 3, accounts: [], data, stackHeight: 2 }
        return { ...result, meta: { ...result.meta, innerInstructions: [{ index: 0, instructions: [inner] }] } }
      }),
    )
    const reading = await read(tx, node.url)
    await node.stop()
    expect(reading).toMatchObject({ outcome: 'found', references })
  })
})
