// Pays on the primary chain: SOL or tokens, with a memo that binds the payment to its quote.

import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { type Asset, coinOf } from '@svc/api/assets'
import { NATIVE_ASSETS, networkNamed, PRIMARY } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import { fromBase58, toBase58 } from '@svc/protocol/bytes'
import { PaymentError } from '../errors.ts'
import { isPrivateHost } from '../local-services.ts'
import type { Signer } from '../signers.ts'
import { OTHER_CHAIN, OWN_PAYMENT, shortage, unknownCoin } from './objections.ts'
import { connectSolana, type Lifetime } from './solana-node.ts'
import { referenceOf, type SignedPayment, type Wallet } from './wallet.ts'

/** The address of the native coin in place of a mint. */
export const NATIVE_MINT = NATIVE_ASSETS.solana
/** The network fee of a transaction with one signature. */
const FEE_LAMPORTS = 5_000n
/** A blockhash is valid for 150 blocks of 0.4 seconds; this allows for slow blocks. */
export const LANDS_WITHIN_SECONDS = 120

/** A wallet of an Ed25519 key. */
export function solanaWallet({ rpcUrl, signer }: { rpcUrl: string; signer: Signer }): Wallet {
  return walletOf(rpcUrl, signer.address, (transaction) => signWith(signer, transaction))
}

/** The wire bytes of the transaction with the signature of the key. */
export async function signWith(signer: Signer, wire: Uint8Array): Promise<Uint8Array> {
  const transaction = getTransactionDecoder().decode(wire)
  const signature = fromBase58(await signer.sign(new Uint8Array(transaction.messageBytes)), 64)
  const signatures = { ...transaction.signatures, [signer.address]: signature as SignatureBytes }
  return new Uint8Array(getTransactionEncoder().encode({ ...transaction, signatures }))
}

/** The part of the wallet standard's feature `solana:signTransaction` that is used. */
export interface SignTransactionFeature<Account> {
  signTransaction(
    ...requests: { account: Account; transaction: Uint8Array }[]
  ): Promise<readonly { signedTransaction: Uint8Array }[]>
}

/** A wallet of a browser wallet: `wallet.features['solana:signTransaction']` and one of its accounts. */
export function solanaWalletFromStandard<Account extends { address: string }>(
  rpcUrl: string,
  account: Account,
  feature: SignTransactionFeature<Account>,
): Wallet {
  return walletOf(rpcUrl, account.address, async (transaction) => {
    const [signed] = await feature.signTransaction({ account, transaction })
    if (!signed) throw new PaymentError('not_moved', 'the wallet returned no signature')
    return signed.signedTransaction
  })
}

/** Receives wire bytes and returns them with the signature. */
type SignTransaction = (transaction: Uint8Array) => Promise<Uint8Array>

function walletOf(rpcUrl: string, owner: string, signTransaction: SignTransaction): Wallet {
  const node = connectSolana(rpcUrl)
  return {
    namespace: 'solana',
    address: owner,
    isLocal: isPrivateHost(rpcUrl),
    landsWithin: LANDS_WITHIN_SECONDS,

    async objection(leg) {
      const { network, asset, amount, payTo, extra } = leg
      if ((await node.network().catch(unreachable)) !== network) return OTHER_CHAIN
      const account = asset === NATIVE_MINT ? owner : await tokenAccount(owner, asset)
      if (payTo === account) return OWN_PAYMENT
      const coin = coinFor(leg)
      const lamports = await node.lamports(owner)
      if (asset === NATIVE_MINT)
        return unknownCoin(leg) ?? shortage(coin.ticker, coin.decimals, BigInt(amount) + FEE_LAMPORTS, lamports)
      const held = await node.tokens(account)
      return (
        shortage(extra.name, extra.decimals, BigInt(amount), held) ??
        shortage(coin.ticker, coin.decimals, FEE_LAMPORTS, lamports)
      )
    },

    async fee(leg) {
      const { ticker, decimals } = coinFor(leg)
      return { amount: FEE_LAMPORTS, ticker, decimals }
    },

    async sign(leg) {
      const lifetime = await node.lifetime()
      const payment = signedPayment(await signTransaction(await unsignedPayment(owner, leg, lifetime)), lifetime)
      const refusal = await node.refusal(payment.raw)
      if (refusal) throw new PaymentError('not_moved', `the chain would refuse the payment: ${meaningOf(refusal)}`)
      return { ...payment, life: { ...payment.life, network: leg.network } }
    },

    send: ({ raw }) => node.send(raw),
    outcomeOf: node.outcomeOf,
  }

  /** The URL of a node often contains an access key, so the error names only its host. */
  function unreachable(cause: unknown): never {
    const { host } = new URL(rpcUrl)
    throw new PaymentError('not_moved', `the node of the primary chain at ${host} does not answer`, { cause })
  }
}

/** The coin that pays fees. On an unknown chain, that of Solana. */
function coinFor({ network }: PaymentLeg): Asset {
  return coinOf(networkNamed(network) ?? PRIMARY)
}

/** The error of the token program for a frozen account. */
const FROZEN = '{"Custom":17}'

function meaningOf(refusal: string): string {
  return refusal.includes(FROZEN)
    ? 'the issuer of the token has frozen the account of the payer or the recipient'
    : refusal
}

/** The account of an owner for the tokens of a mint, which every wallet derives in the same way. */
export async function tokenAccount(owner: string, mint: string): Promise<Address> {
  const [account] = await findAssociatedTokenPda({
    owner: address(owner),
    mint: address(mint),
    tokenProgram: TOKEN_PROGRAM_ADDRESS,
  })
  return account
}

async function paymentInstructions(owner: string, leg: PaymentLeg): Promise<Instruction[]> {
  const { asset, payTo, extra } = leg
  const amount = BigInt(leg.amount)
  const authority = createNoopSigner(address(owner))
  const destination = address(payTo)
  // Not every chain has the newest memo program. Readers accept all of them.
  const memo = getAddMemoInstruction({ memo: referenceOf(leg) }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })
  if (asset === NATIVE_MINT) return [getTransferSolInstruction({ source: authority, destination, amount }), memo]
  const source = await tokenAccount(owner, asset)
  const mint = address(asset)
  const { decimals } = extra
  return [getTransferCheckedInstruction({ source, mint, destination, authority, amount, decimals }), memo]
}

/** The unsigned wire bytes of the payment of a leg. With a reference, it can be found in the way of Solana Pay. */
export async function unsignedPayment(
  owner: string,
  leg: PaymentLeg,
  lifetime: Lifetime,
  reference?: string,
): Promise<Uint8Array> {
  const [transfer, ...memo] = await paymentInstructions(owner, leg)
  const instructions = [reference ? named(transfer as Instruction, reference) : (transfer as Instruction), ...memo]
  const transaction = compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(address(owner), message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    ),
  )
  return new Uint8Array(getTransactionEncoder().encode(transaction))
}

function named(transfer: Instruction, reference: string): Instruction {
  const account = { address: address(reference), role: AccountRole.READONLY }
  return { ...transfer, accounts: [...(transfer.accounts ?? []), account] }
}

export function signedPayment(wire: Uint8Array, { blockhash, lastValidBlockHeight, slot }: Lifetime): SignedPayment {
  const { messageBytes, signatures } = getTransactionDecoder().decode(wire)
  const [first] = Object.values(signatures)
  if (!first) throw new PaymentError('not_moved', 'the wallet did not sign')
  // A wallet may add to a transaction but must keep its blockhash, which decides whether it can still land.
  const { lifetimeToken } = getCompiledTransactionMessageDecoder().decode(messageBytes) as { lifetimeToken?: string }
  if (lifetimeToken !== blockhash) throw new PaymentError('not_moved', "the wallet changed the transaction's lifetime")
  return {
    tx: toBase58(first),
    raw: getBase64Decoder().decode(wire),
    life: { lastValidBlockHeight: String(lastValidBlockHeight), slot: String(slot) },
  }
}
