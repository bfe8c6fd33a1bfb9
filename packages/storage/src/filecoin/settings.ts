// Settings of Filecoin: a storage provider that proves what it stores (PDP), and the contract that pays for it.

import type { Setting, SettingsReader } from '@svc/service/program/config'
import { isSafeAddress, openProviderUrl, type ProviderUrl } from '../provider-url.ts'

export interface FilecoinSettings {
  /** Where the provider accepts pieces, without a trailing slash. */
  pdpUrl: string
  /** A secret: signs for the account that pays. */
  key: `0x${string}`
  chainId: ChainId
  /** May contain the secret of an account there. */
  rpcUrl: string
  /** The contract that registers data sets: FilecoinWarmStorageService. */
  recordKeeper: `0x${string}`
  /** Null: the data set of this key and payee, which is created when it is missing. */
  dataSet: bigint | null
  /** The address that pays the provider; null when the data set determines it. */
  payee: `0x${string}` | null
  /** Where pieces are read first, as `<url>/<content id>`; null: only at the provider. */
  retrievalUrl: string | null
}

type ChainId = keyof typeof CHAINS

/** The values of @filoz/synapse-core, which is loaded only when Filecoin is configured. */
const CHAINS = {
  314: {
    rpcUrl: 'https://api.node.glif.io/rpc/v1',
    recordKeeper: '0x8408502033C418E1bbC97cE9ac48E5528F371A9f',
  },
  314159: {
    rpcUrl: 'https://api.calibration.node.glif.io/rpc/v1',
    recordKeeper: '0x02925630df557F957f70E112bA06e50965417CA0',
  },
  31415926: { rpcUrl: '', recordKeeper: '' },
} as const

const FORM = {
  setting: 'FILECOIN',
  schemes: ['https:', 'http:'],
  example: 'https://pdp.example?key_file=/path/to/key&payee=0x…',
  words: ['key', 'chain', 'rpc', 'record_keeper', 'data_set', 'payee', 'retrieval'],
}

export const FILECOIN_SETTING: Setting = {
  group: 'providers',
  isSecret: true,
  help: `Filecoin, at a provider that accepts pieces (PDP): ${FORM.example}; also data_set instead of payee, chain (314, 314159, 31415926), rpc, record_keeper and retrieval`,
}

/** Null when the setting is empty. */
export function readFilecoinSettings(settings: SettingsReader): FilecoinSettings | null {
  const given = openProviderUrl(settings, FORM)
  if (!given) return null
  const { url, option, problem } = given
  const chainId = Number(given.oneOf('chain', ['314', '314159', '31415926'])) as ChainId
  const chain = CHAINS[chainId]
  const dataSet = option('data_set')
  if (!/^(?:[1-9]\d{0,18})?$/.test(dataSet)) problem('data_set', `the number of a data set, not "${dataSet}"`)
  return {
    pdpUrl: readUrl(given, 'provider', url.href.split('?')[0] ?? ''),
    key: readKey(given),
    chainId,
    rpcUrl: readUrl(given, 'rpc', option('rpc', chain.rpcUrl)),
    recordKeeper: readAddress(given, 'record_keeper', 'the contract of data sets', chain.recordKeeper),
    dataSet: /^\d+$/.test(dataSet) ? BigInt(dataSet) : null,
    payee: dataSet ? null : readAddress(given, 'payee', 'where the provider is paid for a new data set', ''),
    retrievalUrl: option('retrieval') ? readUrl(given, 'retrieval', option('retrieval')) : null,
  }
}

/** Without encryption, others could read the files, and forge answers about the chain. */
function readUrl({ problem }: ProviderUrl, word: string, text: string): string {
  const url = URL.parse(text)
  if (!url || !isSafeAddress(url) || url.search || url.hash)
    problem(word, 'an address that begins with https://, or with http:// on this machine')
  return text.replace(/\/+$/, '')
}

function readAddress(given: ProviderUrl, word: string, meaning: string, fallback: string): `0x${string}` {
  const text = given.option(word, fallback)
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) given.problem(word, `an address (${meaning}), not "${text}"`)
  return text as `0x${string}` // or there is a problem
}

function readKey({ secret, problem }: ProviderUrl): `0x${string}` {
  const key = secret('key') ?? ''
  if (!/^(?:0x)?[0-9a-fA-F]{64}$/.test(key))
    problem('key', 'a private key of 64 hex characters, or key_file, the name of a file that contains one')
  return `0x${key.replace(/^0x/, '')}`
}
