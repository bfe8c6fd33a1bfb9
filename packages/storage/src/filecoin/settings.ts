// Settings of Filecoin: a storage provider that proves what it stores (PDP), and the contract that pays for it.

import { readSecret, type SettingsReader } from '@svc/service/program/config'

export interface FilecoinSettings {
  /** Where the provider accepts pieces, without a trailing slash. */
  pdpUrl: string
  /** A secret: signs for the account that pays. */
  key: `0x${string}`
  chainId: ChainId
  /** May contain the secret of an account there. */
  rpcUrl: string
  /** The contract at which data sets are registered: FilecoinWarmStorageService. */
  recordKeeper: `0x${string}`
  /** Null: the one for this key and payee, which is created when it is missing. */
  dataSet: bigint | null
  /** Where the provider is paid; null when the data set determines it. */
  payee: `0x${string}` | null
  /** Where pieces are read first, as `<url>/<content id>`; null: only at the provider. */
  retrievalUrl: string | null
}

type ChainId = keyof typeof CHAINS

/** As in @filoz/synapse-core, which is not loaded unless Filecoin is configured. */
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

const NAMES = ['PDP_URL', 'KEY', 'KEY_FILE', 'RPC_URL', 'RECORD_KEEPER', 'DATA_SET', 'PAYEE', 'RETRIEVAL_URL'].map(
  (name) => `FILECOIN_${name}`,
)

/** Null when nothing is set, or everything is as in `.env.example`. */
export function readFilecoinSettings(settings: SettingsReader): FilecoinSettings | null {
  const chainId = Number(settings.oneOf('FILECOIN_CHAIN_ID', ['314', '314159', '31415926'], '314')) as ChainId
  if (NAMES.every((name) => settings.text(name) === '') && chainId === 314) return null
  const chain = CHAINS[chainId]
  const dataSet = settings.text('FILECOIN_DATA_SET')
  if (!/^(?:[1-9]\d{0,18})?$/.test(dataSet)) {
    settings.problem(`FILECOIN_DATA_SET must be the number of a data set, not "${dataSet}"`)
  }
  return {
    pdpUrl: readUrl(settings, 'FILECOIN_PDP_URL', ''),
    key: readKey(settings),
    chainId,
    rpcUrl: readUrl(settings, 'FILECOIN_RPC_URL', chain.rpcUrl),
    recordKeeper: readAddress(settings, 'FILECOIN_RECORD_KEEPER', 'the contract of data sets', chain.recordKeeper),
    dataSet: /^\d+$/.test(dataSet) ? BigInt(dataSet) : null,
    payee: dataSet
      ? null
      : readAddress(settings, 'FILECOIN_PAYEE', 'where the provider is paid for a new data set', ''),
    retrievalUrl: settings.text('FILECOIN_RETRIEVAL_URL') ? readUrl(settings, 'FILECOIN_RETRIEVAL_URL', '') : null,
  }
}

/** Unencrypted, others could read the files, and could answer anything about the chain. */
function readUrl(settings: SettingsReader, name: string, fallback: string): string {
  const text = settings.text(name) || fallback
  const { protocol, hostname, search, hash } = URL.parse(text) ?? { protocol: '', hostname: '', search: '', hash: '' }
  const isSafe =
    protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname))
  if (!isSafe || search || hash) {
    settings.problem(`${name} must be an address that begins with https://, or with http:// on this machine`)
  }
  return text.replace(/\/+$/, '')
}

function readAddress(settings: SettingsReader, name: string, meaning: string, fallback: string): `0x${string}` {
  const text = settings.text(name) || fallback
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) settings.problem(`${name} must be an address (${meaning}), not "${text}"`)
  return text as `0x${string}` // or there is a problem
}

/** Problems never show it. */
function readKey(settings: SettingsReader): `0x${string}` {
  const given = readSecret(settings, 'FILECOIN_KEY')
  const key = given ? given.text : ''
  if (key !== null && !/^(?:0x)?[0-9a-fA-F]{64}$/.test(key)) {
    settings.problem('FILECOIN_KEY must be a private key of 64 hex characters, or be in a file')
  }
  return `0x${(key ?? '').replace(/^0x/, '')}`
}
