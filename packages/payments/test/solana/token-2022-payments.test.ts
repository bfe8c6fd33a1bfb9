import { AccountRole, type Address, getAddressEncoder, getU16Encoder, getU64Encoder } from '@solana/kit'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { TOKEN_2022_PROGRAM_ADDRESS as tokenProgram } from '@svc/devnet/primary-chain/transactions/accounts'
import { expect, it } from 'vitest'
import { associatedAccount, startPayments } from './payments.ts'

const MINT_WITH_FEE_BYTES = 278
const config = { programAddress: tokenProgram }

it('T-25 a token with a transfer fee pays the received amount', async () => {
  await using stack = new AsyncDisposableStack()
  const payments = await startPayments()
  stack.defer(() => payments.stop())
  const { payer } = payments.people
  const { address: mint, create } = await payments.createAccount(payer, MINT_WITH_FEE_BYTES, tokenProgram)
  const source = await associatedAccount(payer.address, mint, tokenProgram)
  const destination = await associatedAccount(TREASURY.address, mint, tokenProgram)
  const open = (ata: Address, owner: Address) =>
    getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner, mint, tokenProgram })
  await payments.send(
    payer,
    create,
    initializeTransferFee(mint, payer.address, 100, 1_000_000n),
    getInitializeMint2Instruction({ mint, decimals: 6, mintAuthority: payer.address }, config),
    open(source, payer.address),
    open(destination, TREASURY.address),
    getMintToInstruction({ mint, token: source, mintAuthority: payer, amount: 5_000_000n }, config),
  )
  const transfer = { source, mint, destination, authority: payer, amount: 2_000_000n, decimals: 6 }
  const tx = await payments.send(payer, getTransferCheckedInstruction(transfer, config))

  expect(await payments.reader.read(tx, { asset: mint, payTo: destination })).toMatchObject({
    payer: payer.address,
    received: 1_980_000n,
  })
})

/**
 * TransferFeeExtension, InitializeTransferFeeConfig: both authorities present, then basis points and the highest fee.
 */
function initializeTransferFee(mint: Address, authority: Address, basisPoints: number, maximum: bigint) {
  const some = [1, ...getAddressEncoder().encode(authority)]
  const amounts = [...getU16Encoder().encode(basisPoints), ...getU64Encoder().encode(maximum)]
  const data = Uint8Array.from([26, 0, ...some, ...some, ...amounts])
  return { programAddress: tokenProgram, accounts: [{ address: mint, role: AccountRole.WRITABLE }], data }
}
