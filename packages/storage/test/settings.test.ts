// The settings of every driver.

import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calibration, mainnet } from '@filoz/synapse-core/chains'
import { ed25519Signer } from '@svc/protocol/keys'
import { ConfigError, SettingsReader } from '@svc/service/program/config'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readArweaveSettings } from '../src/arweave/settings.ts'
import { PROVIDER_SETTINGS, RENAMED_PROVIDER_SETTINGS } from '../src/drivers.ts'
import { readFilecoinSettings } from '../src/filecoin/settings.ts'
import { readFirestoreSettings } from '../src/firestore/settings.ts'
import { readGcsSettings } from '../src/gcs/settings.ts'
import { openMongodb } from '../src/mongodb/open.ts'
import { readMongodbSettings } from '../src/mongodb/settings.ts'
import { readS3BucketSettings } from '../src/s3-bucket/settings.ts'
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

const query = (options: Record<string, string>) => new URLSearchParams(options)

interface Driver {
  name: string
  read(reader: SettingsReader): object | null
  /** The shortest URL, and its settings. */
  least: [url: string, settings: object]
  /** All further options. */
  all: [url: string, settings: object]
  /** URLs with one wrong part each, which the problem names. Words that begin with `secret` are never shown. */
  wrong: Record<string, string[]>
}

const storj = (rest: string) => `s3://jwkey:secret%2F%3A@gateway.storjshare.io/${rest}`
const arweave = (options: Record<string, string>) =>
  `https://upload.ardrive.io?${query({ key: arweaveKey, ...options })}`
const filecoin = (options: Record<string, string>) =>
  `https://pdp.example/?${query({ key: filecoinKey, payee, ...options })}`

const drivers: Driver[] = [
  {
    name: 'STORJ',
    read: (reader) => readS3BucketSettings(reader, 'storj'),
    least: [
      storj('files'),
      {
        title: 'Storj',
        endpoint: 'https://gateway.storjshare.io',
        region: 'us-east-1',
        bucket: 'files',
        prefix: '',
        accessKeyId: 'jwkey',
        secretAccessKey: 'secret/:',
        redirect: 'off',
      },
    ],
    all: [
      's3+http://jwkey:s@127.0.0.1:9000/files/svc/files/?redirect=get&region=eu-1',
      { endpoint: 'http://127.0.0.1:9000', prefix: 'svc/files/', redirect: 'get', region: 'eu-1' },
    ],
    wrong: {
      bucket: [storj('Not%20a%20Bucket'), storj('')],
      prefix: [storj('files/a.b/'), storj('files/words')],
      redirect: [storj('files?redirect=put')],
      region: [storj('files?region=EU%201')],
      host: ['s3+http://k:secret@store.example/files', 's3+http://k:secret@127.0.0.1.evil.example/files'],
      key: ['s3://:secret@store.example/files'],
      secret: ['s3://jwkey@store.example/files'],
    },
  },
  {
    name: 'GCS',
    read: readGcsSettings,
    least: [
      'gs://files_of.svc',
      {
        bucket: 'files_of.svc',
        prefix: '',
        credentials: null,
        endpoint: 'https://storage.googleapis.com',
        iamEndpoint: 'https://iamcredentials.googleapis.com',
        redirect: 'off',
      },
    ],
    all: [
      `gs://files/svc/files/?${query({ credentials: googleKey, endpoint: 'http://127.0.0.1:4443/', iam_endpoint: 'http://localhost:4443', redirect: 'get' })}`,
      {
        prefix: 'svc/files/',
        redirect: 'get',
        credentials: account,
        endpoint: 'http://127.0.0.1:4443',
        iamEndpoint: 'http://localhost:4443',
      },
    ],
    wrong: {
      bucket: ['gs://Not-A-Bucket', 'gs://'],
      prefix: ['gs://files/a/%2E%2E%2Fx', 'gs://files/words'],
      redirect: ['gs://files?redirect=put'],
      endpoint: ['gs://files?endpoint=storage', 'gs://files?endpoint=http://storage.example'],
      iam_endpoint: ['gs://files?iam_endpoint=http://127.0.0.1.evil.example'],
      credentials: [...wrongGoogleKeys, JSON.stringify({ ...account, token_uri: 'http://secret.example' })].map(
        (credentials) => `gs://files?${query({ credentials })}`,
      ),
    },
  },
  {
    name: 'MONGODB',
    read: readMongodbSettings,
    least: [mongodbUrl, { url: mongodbUrl, database: 'svc', bucket: 'objects' }],
    all: [
      'mongodb+srv://cluster.example/?database=kept&tls=true&bucket=b-1',
      { url: 'mongodb+srv://cluster.example/?tls=true', database: 'kept', bucket: 'b-1' },
    ],
    wrong: {
      '': [
        'postgres://gateway:secret@host',
        'mongodb://gateway:secret@',
        'mongodb://gateway:secret@x@host/',
        'mongodb://gateway:secret#x@host/',
      ],
      database: ['mongodb://host/?database=a.b'],
      bucket: ['mongodb://host/?bucket=a$b'],
    },
  },
  {
    name: 'FIRESTORE',
    read: readFirestoreSettings,
    least: [
      'firestore:svc-files',
      {
        project: 'svc-files',
        database: '(default)',
        collection: 'objects',
        credentials: null,
        emulator: null,
        maxObjectBytes: 50 * 1024 * 1024,
      },
    ],
    all: [
      'firestore:example.com:svc-files?database=kept-files&emulator=127.0.0.1:8085&max_object_bytes=7&collection=c',
      {
        project: 'example.com:svc-files',
        database: 'kept-files',
        emulator: '127.0.0.1:8085',
        maxObjectBytes: 7,
        collection: 'c',
      },
    ],
    wrong: {
      project: ['firestore:Not%20a%20project', 'firestore:files/databases'],
      database: ['firestore:svc-files?database=default/documents'],
      collection: ['firestore:svc-files?collection=a/b', 'firestore:svc-files?collection=__ours__'],
      max_object_bytes: ['firestore:svc-files?max_object_bytes=0', 'firestore:svc-files?max_object_bytes=2000000000'],
      emulator: [
        'firestore:svc-files?emulator=http://localhost:8085',
        `firestore:svc-files?${query({ emulator: 'localhost:8085', credentials: googleKey })}`,
      ],
      credentials: wrongGoogleKeys.map((credentials) => `firestore:svc-files?${query({ credentials })}`),
    },
  },
  {
    name: 'ARWEAVE',
    read: readArweaveSettings,
    least: [
      arweave({}),
      {
        uploadUrl: 'https://upload.ardrive.io',
        gateways: ['https://arweave.net/raw', 'https://permagate.io/raw'],
        token: 'solana',
        seed: SEED,
      },
    ],
    all: [
      `http://127.0.0.1:3000/?${query({ key: JSON.stringify([...SEED, ...ed25519Signer(SEED).publicKey]), token: 'ed25519', gateway: 'https://one.example' })}&gateway=http://localhost:1984/raw/`,
      {
        seed: SEED,
        uploadUrl: 'http://127.0.0.1:3000',
        gateways: ['https://one.example', 'http://localhost:1984/raw'],
        token: 'ed25519',
      },
    ],
    wrong: {
      service: [`http://upload.example?key=${arweaveKey}`, `https://user:secret@upload.example?key=${arweaveKey}`],
      gateway: [
        `${arweave({ gateway: 'https://one.example' })}&gateway=http://two.example`,
        `${arweave({ gateway: 'https://one.example' })}&gateway=https://one.example/`,
        arweave({}) + Array.from({ length: 9 }, (_, i) => `&gateway=https://${i}.example`).join(''),
      ],
      token: [arweave({ token: '../solana' }), arweave({ token: 'Solana' })],
      key: [
        arweave({ key: arweaveKey.slice(1) }),
        arweave({ key: `${arweaveKey}ff` }),
        arweave({ key: `[${'7,'.repeat(63)}7]` }),
      ],
    },
  },
  {
    name: 'FILECOIN',
    read: readFilecoinSettings,
    least: [
      filecoin({}),
      {
        pdpUrl: 'https://pdp.example',
        key: filecoinKey,
        chainId: mainnet.id,
        rpcUrl: mainnet.rpcUrls.default.http[0],
        recordKeeper: mainnet.contracts.fwss.address,
        dataSet: null,
        payee,
        retrievalUrl: null,
      },
    ],
    all: [
      `https://pdp.example/pdp?${query({ key: filecoinKey.slice(2), chain: `${calibration.id}`, data_set: '12', retrieval: 'https://x.filbeam.io/' })}`,
      {
        pdpUrl: 'https://pdp.example/pdp',
        recordKeeper: calibration.contracts.fwss.address,
        dataSet: 12n,
        payee: null,
        retrievalUrl: 'https://x.filbeam.io',
        key: filecoinKey,
      },
    ],
    wrong: {
      provider: [`http://localhost.example/?${query({ key: filecoinKey, payee })}`],
      rpc: [filecoin({ rpc: 'http://node.example' })],
      retrieval: [filecoin({ retrieval: 'http://cache.example' })],
      chain: [filecoin({ chain: '1' })],
      record_keeper: [filecoin({ record_keeper: '0x12' })],
      data_set: [filecoin({ data_set: '0' }), filecoin({ data_set: '0x1' })],
      payee: [filecoin({ payee: 'f01234' })],
      key: [filecoin({ key: `${filecoinKey}00` }), filecoin({ key: 'secret' })],
    },
  },
]

describe.each(drivers)('the URL of $name', ({ name, read, least, all, wrong }) => {
  function settingsOf(url: string, variable = name) {
    const reader = new SettingsReader({ [variable]: url }, PROVIDER_SETTINGS)
    const settings = read(reader)
    reader.done()
    return settings
  }

  it('CFG-01 is optional, may be short, and has defaults', () => {
    expect(settingsOf('')).toBeNull()
    expect(settingsOf(least[0])).toEqual(least[1])
    expect(settingsOf(all[0])).toMatchObject(all[1])
  })

  it('CFG-02 is read from a file, like a secret', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-settings-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'secret')
    expect(() => settingsOf(file, `${name}_FILE`)).toThrow(`${name}_FILE cannot be read: ENOENT`)
    await writeFile(file, `${least[0]}\n`, { mode: 0o600 })
    expect(settingsOf(file, `${name}_FILE`)).toEqual(least[1])
  })

  it.each(Object.entries(wrong))('CFG-01 is rejected with a wrong part %s, and never shown', (part, urls) => {
    for (const url of urls) {
      const problem = () => settingsOf(url)
      expect(problem, url).toThrow(new RegExp(`${name}${part && `: ${part}`} must be`))
      expect(problem, url).not.toThrow(/secret[^ .]|PRIVATE|5c5c|0707|7,7/)
    }
  })

  // MongoDB's client has its own options.
  if (name === 'MONGODB') return
  it('CFG-01 is rejected with an unknown option', () => {
    const url = `${least[0]}${least[0].includes('?') ? '&' : '?'}speed=1`
    expect(() => settingsOf(url)).toThrow(`${name} has an option that is not one of`)
    expect(() => settingsOf('ftp://x')).toThrow(`${name} must be`)
  })
})

it('CFG-02 a secret inside a URL may be in a separate file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-settings-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'key')
  const read = (url: string) => {
    const reader = new SettingsReader({ GCS: url }, PROVIDER_SETTINGS)
    const settings = readGcsSettings(reader)
    reader.done()
    return settings
  }
  expect(() => read(`gs://files?credentials_file=${file}`)).toThrow('GCS: credentials_file cannot be read: ENOENT')
  await writeFile(file, googleKey, { mode: 0o600 })
  expect(read(`gs://files?credentials_file=${file}`)?.credentials).toEqual(account)
  expect(() => read(`gs://files?credentials_file=${file}&credentials=x`)).toThrow('both given: remove one of them')
})

it('CFG-02 each setting of 1.1.0 is rejected with the form of the URL', () => {
  for (const name of ['STORJ_SECRET_ACCESS_KEY_FILE', 'GCS_BUCKET', 'ARWEAVE_KEY', 'FIRESTORE_PROJECT']) {
    const reader = new SettingsReader({ [name]: 'x' }, PROVIDER_SETTINGS, RENAMED_PROVIDER_SETTINGS)
    expect(reader.problems()).toEqual([
      expect.stringMatching(new RegExp(`^${name} is no longer a setting: write it into \\w+. .*:`)),
    ])
  }
})

it('the address of MongoDB must not have an option that its library does not know', async () => {
  const url = 'mongodb://gateway:S3cret@host/?nosuch=1'
  const error: unknown = await openMongodb({ url, database: 'svc', bucket: 'objects' }).catch((error) => error)
  expect(error).toBeInstanceOf(ConfigError)
  expect(String(error)).toContain('option nosuch is not supported')
  expect(String(error)).not.toContain('S3cret')
})
