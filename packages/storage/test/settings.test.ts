// The settings of every driver.

import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calibration, mainnet } from '@filoz/synapse-core/chains'
import { ed25519Signer } from '@svc/protocol/keys'
import { ConfigError, SettingsReader, type Variables } from '@svc/service/program/config'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readArweaveSettings } from '../src/arweave/settings.ts'
import { readFilecoinSettings } from '../src/filecoin/settings.ts'
import { readFirestoreSettings } from '../src/firestore/settings.ts'
import { readGcsSettings } from '../src/gcs/settings.ts'
import { openMongodb } from '../src/mongodb/open.ts'
import { readMongodbSettings } from '../src/mongodb/settings.ts'
import { readStorjSettings } from '../src/storj/settings.ts'
import { SEED } from './arweave/start-arweave.ts'

const private_key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
})
const account = { client_email: 'a@b.example', private_key, token_uri: 'https://t.example' }
const googleKey = JSON.stringify({ type: 'service_account', ...account })
const wrongGoogleKeys = [
  'secret-but-no-json',
  '"secret"',
  '{"client_email":"secret@b.example"}',
  JSON.stringify({ ...account, private_key: 'secret' }),
  JSON.stringify({ ...account, client_email: 7 }),
]
const filecoinKey = `0x${'5c'.repeat(32)}`
const payee = `0x${'0a'.repeat(20)}`
const arweaveKey = Buffer.from(SEED).toString('hex')
const mongodbUrl = 'mongodb://gateway:p%40ss@a.example:27017,b.example/?replicaSet=rs0&tls=true'

interface Driver {
  name: string
  read(reader: SettingsReader): object | null
  needed: Record<string, string>
  /** What the needed settings give. */
  defaults: object
  /** All that can be set besides, and what it gives. */
  given: [Record<string, string>, object]
  /** The variable that can also be in a file, and wrong values for it, which are never shown. */
  secret: string
  wrongSecrets: string[]
  wrong: Record<string, string[]>
}

const drivers: Driver[] = [
  {
    name: 'Storj',
    read: readStorjSettings,
    needed: { STORJ_BUCKET: 'files', STORJ_ACCESS_KEY_ID: 'jwkey', STORJ_SECRET_ACCESS_KEY: 'a-secret' },
    defaults: {
      endpoint: 'https://gateway.storjshare.io',
      region: 'us-east-1',
      bucket: 'files',
      prefix: '',
      accessKeyId: 'jwkey',
      secretAccessKey: 'a-secret',
      redirect: 'off',
    },
    given: [
      {
        STORJ_ENDPOINT: 'http://127.0.0.1:9000/',
        STORJ_PREFIX: 'svc/files/',
        STORJ_REDIRECT: 'get',
        STORJ_REGION: 'eu-1',
      },
      { endpoint: 'http://127.0.0.1:9000', prefix: 'svc/files/', redirect: 'get', region: 'eu-1' },
    ],
    secret: 'STORJ_SECRET_ACCESS_KEY',
    wrongSecrets: [],
    wrong: {
      STORJ_ENDPOINT: ['http://localhost.example', 'https://store.example/path', 'https://user:password@store.example'],
      STORJ_REGION: ['us/east'],
      STORJ_BUCKET: ['Files', '../files', 'a'],
      STORJ_PREFIX: ['svc', '/svc/', '../../../../apps/gateway/src/providers/', 'a b/'],
      STORJ_ACCESS_KEY_ID: ['a/b'],
      STORJ_REDIRECT: ['put'],
    },
  },
  {
    name: 'Google Cloud Storage',
    read: readGcsSettings,
    needed: { GCS_BUCKET: 'files' },
    defaults: {
      bucket: 'files',
      prefix: '',
      credentials: null,
      endpoint: 'https://storage.googleapis.com',
      iamEndpoint: 'https://iamcredentials.googleapis.com',
      redirect: 'off',
    },
    given: [
      {
        GCS_PREFIX: 'svc/files/',
        GCS_REDIRECT: 'get',
        GCS_CREDENTIALS: googleKey,
        GCS_ENDPOINT: 'http://127.0.0.1:4443/',
        GCS_IAM_ENDPOINT: 'http://localhost:4443',
      },
      {
        prefix: 'svc/files/',
        redirect: 'get',
        credentials: account,
        endpoint: 'http://127.0.0.1:4443',
        iamEndpoint: 'http://localhost:4443',
      },
    ],
    secret: 'GCS_CREDENTIALS',
    wrongSecrets: [...wrongGoogleKeys, JSON.stringify({ ...account, token_uri: 'http://secret.example' })],
    wrong: {
      GCS_BUCKET: ['Not A Bucket', 'files/others'],
      GCS_PREFIX: ['../../../../apps/gateway/src/providers/', 'files'],
      GCS_REDIRECT: ['put'],
      GCS_ENDPOINT: ['storage', 'http://storage.example'],
      GCS_IAM_ENDPOINT: ['http://127.0.0.1.evil.example'],
    },
  },
  {
    name: 'MongoDB',
    read: readMongodbSettings,
    needed: { MONGODB_URL: mongodbUrl },
    defaults: { url: mongodbUrl, database: 'svc', bucket: 'objects' },
    given: [
      { MONGODB_URL: 'mongodb+srv://cluster.example', MONGODB_DATABASE: 'kept', MONGODB_BUCKET: 'b-1' },
      { url: 'mongodb+srv://cluster.example', database: 'kept', bucket: 'b-1' },
    ],
    secret: 'MONGODB_URL',
    wrongSecrets: [
      'postgres://gateway:secret@host',
      'mongodb://gateway:secret@',
      'mongodb://gateway:secret@x@host/',
      'mongodb://gateway:secret#x@host/',
    ],
    wrong: {
      MONGODB_DATABASE: ['a.b'],
      MONGODB_BUCKET: ['a$b'],
    },
  },
  {
    name: 'Firestore',
    read: readFirestoreSettings,
    needed: { FIRESTORE_PROJECT: 'svc-files' },
    defaults: {
      project: 'svc-files',
      database: '(default)',
      collection: 'objects',
      credentials: null,
      emulator: null,
      maxObjectBytes: 50 * 1024 * 1024,
    },
    given: [
      { FIRESTORE_DATABASE: 'kept-files', FIRESTORE_EMULATOR: '127.0.0.1:8085', FIRESTORE_MAX_OBJECT_BYTES: '7' },
      { database: 'kept-files', emulator: '127.0.0.1:8085', maxObjectBytes: 7 },
    ],
    secret: 'FIRESTORE_CREDENTIALS',
    wrongSecrets: wrongGoogleKeys,
    wrong: {
      FIRESTORE_PROJECT: ['Not a project', 'files/databases'],
      FIRESTORE_DATABASE: ['default/documents'],
      FIRESTORE_COLLECTION: ['a/b', '__ours__'],
      FIRESTORE_MAX_OBJECT_BYTES: ['0', '2000000000'],
      FIRESTORE_EMULATOR: ['http://localhost:8085'],
    },
  },
  {
    name: 'Arweave',
    read: readArweaveSettings,
    needed: { ARWEAVE_KEY: arweaveKey },
    defaults: {
      uploadUrl: 'https://upload.ardrive.io',
      gateways: ['https://arweave.net/raw', 'https://permagate.io/raw'],
      token: 'solana',
      seed: SEED,
    },
    given: [
      {
        ARWEAVE_KEY: JSON.stringify([...SEED, ...ed25519Signer(SEED).publicKey]),
        ARWEAVE_UPLOAD_URL: 'http://127.0.0.1:3000/',
        ARWEAVE_GATEWAYS: 'https://one.example, http://localhost:1984/raw/',
        ARWEAVE_TOKEN: 'ed25519',
      },
      {
        seed: SEED,
        uploadUrl: 'http://127.0.0.1:3000',
        gateways: ['https://one.example', 'http://localhost:1984/raw'],
        token: 'ed25519',
      },
    ],
    secret: 'ARWEAVE_KEY',
    wrongSecrets: [arweaveKey.slice(1), `${arweaveKey}ff`, `[${'7,'.repeat(63)}7]`],
    wrong: {
      ARWEAVE_UPLOAD_URL: ['http://upload.example', 'https://user:word@upload.example'],
      ARWEAVE_GATEWAYS: [
        'https://one.example,http://two.example',
        'https://one.example,https://one.example/',
        Array.from({ length: 9 }, (_, i) => `https://${i}.example`).join(),
      ],
      ARWEAVE_TOKEN: ['../solana', 'Solana'],
    },
  },
  {
    name: 'Filecoin',
    read: readFilecoinSettings,
    needed: { FILECOIN_PDP_URL: 'https://pdp.example/', FILECOIN_KEY: filecoinKey, FILECOIN_PAYEE: payee },
    defaults: {
      pdpUrl: 'https://pdp.example',
      key: filecoinKey,
      chainId: mainnet.id,
      rpcUrl: mainnet.rpcUrls.default.http[0],
      recordKeeper: mainnet.contracts.fwss.address,
      dataSet: null,
      payee,
      retrievalUrl: null,
    },
    given: [
      {
        FILECOIN_CHAIN_ID: `${calibration.id}`,
        FILECOIN_DATA_SET: '12',
        FILECOIN_RETRIEVAL_URL: 'https://x.filbeam.io/',
        FILECOIN_PAYEE: '',
        FILECOIN_KEY: filecoinKey.slice(2),
      },
      {
        recordKeeper: calibration.contracts.fwss.address,
        dataSet: 12n,
        payee: null,
        retrievalUrl: 'https://x.filbeam.io',
        key: filecoinKey,
      },
    ],
    secret: 'FILECOIN_KEY',
    wrongSecrets: [`${filecoinKey}00`, 'secret'],
    wrong: {
      FILECOIN_PDP_URL: ['http://localhost.example', 'https://pdp.example/?key=1', 'pdp.example'],
      FILECOIN_RPC_URL: ['http://node.example'],
      FILECOIN_RETRIEVAL_URL: ['http://cache.example'],
      FILECOIN_CHAIN_ID: ['1'],
      FILECOIN_RECORD_KEEPER: ['0x12'],
      FILECOIN_DATA_SET: ['0', '0x1'],
      FILECOIN_PAYEE: ['f01234'],
    },
  },
]

describe.each(drivers)('the settings of $name', ({ read, needed, defaults, given, secret, wrongSecrets, wrong }) => {
  function settingsOf(variables: Variables) {
    const reader = new SettingsReader(variables)
    const settings = read(reader)
    reader.done()
    return settings
  }

  it('CFG-01 are null when nothing is set, or everything is as in the example', () => {
    const reader = new SettingsReader({})
    expect(read(reader)).toBeNull()
    expect(settingsOf(Object.fromEntries(reader.asked))).toBeNull()
  })

  it('need little, and have defaults', () => {
    expect(settingsOf(needed)).toEqual(defaults)
    const [variables, settings] = given
    expect(settingsOf({ ...needed, ...variables })).toMatchObject(settings)
    const [some] = Object.keys(wrong) as [string]
    const missing = Object.keys(needed).filter((name) => name !== some)
    for (const name of missing) expect(() => settingsOf({ [some]: 'files' })).toThrow(name)
  })

  it('are taken from a file where they are secret', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-settings-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'secret')
    const value = needed[secret] ?? googleKey
    const byFile = { ...needed, [secret]: undefined, [`${secret}_FILE`]: file }
    expect(() => settingsOf(byFile)).toThrow(`${secret}_FILE cannot be read: ENOENT`)
    await writeFile(file, `${value}\n`, { mode: 0o600 })
    expect(settingsOf(byFile)).toEqual(settingsOf({ ...needed, [secret]: value }))
    expect(() => settingsOf({ ...byFile, [secret]: value })).toThrow('both set: leave one of them out')
  })

  it.runIf(wrongSecrets.length > 0)('are never shown where they are secret and wrong', () => {
    for (const value of wrongSecrets) {
      const problem = () => settingsOf({ ...needed, [secret]: value })
      expect(problem).toThrow(new RegExp(`${secret} (?:must be|does not hold)`))
      expect(problem).not.toThrow(/secret|PRIVATE|5c5c|0707|7,7/)
    }
  })

  it.each(Object.entries(wrong))('cannot have a wrong %s', (name, values) => {
    for (const value of values) {
      const problem = () => settingsOf({ ...needed, [name]: value })
      expect(problem, value).toThrow(new RegExp(`${name} must`))
      if (needed[secret]) expect(problem).not.toThrow(needed[secret])
    }
  })
})

it('an emulator of Firestore takes no credentials', () => {
  const emulator = { FIRESTORE_PROJECT: 'svc-files', FIRESTORE_EMULATOR: 'localhost:8085' }
  const read = () => {
    const reader = new SettingsReader({ ...emulator, FIRESTORE_CREDENTIALS: googleKey })
    readFirestoreSettings(reader)
    reader.done()
  }
  expect(read).toThrow('takes no credentials')
})

it('the address of MongoDB cannot have an option that its library does not know', async () => {
  const url = 'mongodb://gateway:S3cret@host/?nosuch=1'
  const error: unknown = await openMongodb({ url, database: 'svc', bucket: 'objects' }).catch((error) => error)
  expect(error).toBeInstanceOf(ConfigError)
  expect(String(error)).toContain('option nosuch is not supported')
  expect(String(error)).not.toContain('S3cret')
})
