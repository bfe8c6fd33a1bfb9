// The EVM chain: a payment that our reader accepts, and an entry in the registry contract if EVM_REGISTRY_CONTRACT is
// set. EVM_REGISTRY_KEY pays.

import { randomBytes } from 'node:crypto'
import { coinOf } from '@svc/api/assets'
import { EVM } from '@svc/api/networks'
import { createEvmRegistry } from '@svc/gateway/publication/evm-registry/client'
import { isSameEntry, type RegistryEntry } from '@svc/gateway/publication/evm-registry/entry'
import { readRegistryContract, readRegistryKey } from '@svc/gateway/publication/evm-registry/settings'
import { displayAmount } from '@svc/payments/amounts'
import { type Call, createEvmAccount, type EvmAccount, type SignedTransaction } from '@svc/payments/evm/account'
import { watchTransaction } from '@svc/payments/evm/outcome'
import { readSalesConfig } from '@svc/payments/selling/settings'
import { toHex, utf8, withPrefix } from '@svc/protocol/bytes'
import type { SettingsReader } from '@svc/service/program/config'
import { type Access, land, newQuote, requireNodes, requirePaid, WAIT_MS } from './chains.ts'
import { requireThat, type Trial } from './trial.ts'

/** Nothing is sent if it may cost more, whatever the chain asks for. */
const MOST = 10n ** 18n
const AMOUNT = 1n
/** Of a first entry, with the account's margin. */
const ENTRY_GAS = 100_000n

type Address = `0x${string}`

interface Wallet {
  account: EvmAccount
  access: Access
  treasury: Address
  contract: Address | null
  privateKey: Uint8Array
}

export const tryEvm: Trial = async (settings) => {
  const wallet = openWallet(settings)
  const { account, access, treasury, contract } = wallet
  await requireNodes(EVM, access)
  const { ticker, decimals } = coinOf(EVM)
  const coins = (wei: bigint) => `${displayAmount(wei, decimals)} ${ticker}`
  const quote = newQuote()
  const call: Call = { to: treasury, data: `0x${toHex(utf8(quote.reference))}`, value: AMOUNT }
  const [{ gas, maxFeePerGas }, balance] = await Promise.all([account.costs(call), account.balance()])
  const most = AMOUNT + (gas + (contract ? ENTRY_GAS : 0n)) * maxFeePerGas
  requireThat(most <= MOST, `it may cost ${coins(most)}, above ${coins(MOST)}`)
  return {
    about: [
      `${EVM.title}: every node of EVM_RPC_URLS shows chain id ${EVM.chainId}`,
      `${account.address} (EVM_REGISTRY_KEY) has ${coins(balance)}`,
      `It pays 1 wei to ${treasury} (EVM_TREASURY)${contract ? ` and writes an entry to ${contract}` : ''}.`,
    ],
    costs: `at most ${coins(most)}`,
    async run(passed) {
      requireThat(balance >= most, `${account.address} has ${coins(balance)}, and needs ${coins(most)}`)
      const { tx } = await land<SignedTransaction>(EVM, {
        sign: async () => account.sign({ ...call, ...(await account.costs(call)) }),
        send: ({ raw }) => account.send(raw),
        watch: (signed) => watchTransaction(account, signed, WAIT_MS),
      })
      await requirePaid(EVM, access, {
        ...quote,
        tx,
        payTo: treasury,
        payer: account.address.toLowerCase(),
        amount: AMOUNT,
      })
      passed(`1 wei arrived at ${treasury}, is final, and pays its quote`)
      if (contract) passed(await writeEntry(wallet, contract))
      else passed('EVM_REGISTRY_CONTRACT is not set: the registry was not tried')
      const spent = balance - (await account.balance())
      requireThat(spent <= most, `it cost ${coins(spent)}, more than announced`)
      passed(`it cost ${coins(spent)}`)
    },
  }
}

function openWallet(settings: SettingsReader): Wallet {
  const isProduction = settings.oneOf('SVC_MODE', ['production', 'development']) === 'production'
  const [{ chains }, secrets] = readSalesConfig(settings, isProduction)
  const privateKey = readRegistryKey(settings, isProduction)
  const contract = readRegistryContract(settings)
  settings.done()
  const config = chains.get(EVM)
  requireThat(
    config !== undefined && privateKey !== null,
    'EVM_RPC_URLS, EVM_TREASURY and EVM_REGISTRY_KEY must be set',
  )
  const { quorum, finality } = config
  const access = { rpcUrls: secrets.rpcUrls.get(EVM) ?? [], quorum, finality }
  const account = createEvmAccount(EVM, access.rpcUrls, privateKey)
  const treasury = config.treasury as Address // the settings check its form
  const isOwn = account.address.toLowerCase() === treasury.toLowerCase()
  requireThat(!isOwn, 'EVM_REGISTRY_KEY is the key of EVM_TREASURY: it would pay itself')
  return { account, access, treasury, contract, privateKey }
}

/** Of a receipt that does not exist. */
async function writeEntry({ access, privateKey }: Wallet, contract: Address): Promise<string> {
  const registry = createEvmRegistry({ rpcUrls: access.rpcUrls, privateKey, contract })
  const receiptId = `rcpt_${randomBytes(16).toString('hex')}`
  const entry: RegistryEntry = {
    merkle_root: withPrefix(randomBytes(32).toString('hex')),
    slot: 1,
    file_count: 1,
    attested_at: Math.floor(Date.now() / 1000),
  }
  const { tx } = await land<SignedTransaction>(EVM, {
    async sign() {
      const signed = await registry.prepare(receiptId, entry)
      requireThat(signed !== 'there_already', 'the registry has this entry already')
      return signed
    },
    send: ({ raw }) => registry.send(raw),
    watch: (signed) => registry.watch(signed, WAIT_MS),
  })
  const found = await registry.read(receiptId)
  requireThat(found !== null && isSameEntry(found, entry), `the entry of ${tx} is ${JSON.stringify(found)}`)
  return `an entry is in the registry ${contract}, and is read back`
}
