// One change of each kind that CONTRIBUTING.md lists under "A change is small", as edits of the files that it names.

type Edit = (text: string) => string

export interface SmallChange {
  /** The heading of its list. */
  heading: string
  /** The values of the names that the list leaves open. */
  names: Readonly<Record<string, string>>
  /** By file. A new file starts as an empty text. */
  edits: Readonly<Record<string, Edit>>
  /** The tests that show that the addition works, and that the tests of all of its kind accept it. */
  tests: readonly string[]
}

const replaced =
  (old: string, text: string): Edit =>
  (content) => {
    if (content.split(old).length !== 2) throw new Error(`missing or repeated: ${old}`)
    return content.replace(old, () => text)
  }
const after = (line: string, added: string) => replaced(line, `${line}\n${added}`)
const before = (line: string, added: string) => replaced(line, `${added}\n${line}`)
const all =
  (...edits: Edit[]): Edit =>
  (content) =>
    edits.reduce((text, edit) => edit(text), content)
const written =
  (text: string): Edit =>
  () =>
    text.trimStart()

/** The id in the test of the endpoint. In one piece, the check of the specification would count this file as a test. */
const SHOWN = ['GEN', 10].join('-')

const ENDPOINT: SmallChange = {
  heading: 'An endpoint',
  names: { topic: 'info', module: 'views', verb: 'list-providers', subject: 'setup', command: 'providers' },
  edits: {
    'packages/api/src/info.ts': (text) => `${text}
export const listProviders = endpoint({
  name: 'listProviders',
  method: 'GET',
  path: '/v1/providers',
  auth: 'public',
  summary: 'The storage providers that are sold here',
  query: Type.Object({ speed: Type.Optional(Words(['direct', 'slow'])) }),
  responses: { 200: Type.Object({ providers: Type.Array(Type.String()) }, { title: 'SoldProviders' }) },
  headers: NO_STORE,
  errors: ['validation_error'],
})
`,
    'apps/gateway/src/views/list-providers.ts': written(`
import { isSlow, PROVIDERS } from '@svc/api/providers'
import type { Context } from '../context.ts'

export function listProviders({ config }: Context, speed: 'direct' | 'slow' | undefined): { providers: string[] } {
  const sold = PROVIDERS.filter((provider) => config.storage.drivers[provider])
  return { providers: sold.filter((provider) => !speed || isSlow(provider) === (speed === 'slow')) }
}
`),
    'apps/gateway/src/views/routes.ts': all(
      before(
        "import { checkHealth, checkReadiness } from './health.ts'",
        "import { listProviders } from './list-providers.ts'",
      ),
      after(
        '  serve(service, info.stats, context.stats)',
        '  serve(service, info.listProviders, ({ query }) => listProviders(context, query.speed))',
      ),
    ),
    'apps/gateway/test/views/list-providers.test.ts': written(`
import { forAllTests } from '@svc/devnet/for-tests'
import { openTestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'

const testbed = forAllTests(() => openTestGateway({ LOCAL_PROVIDERS: 'gcs,arweave' }))
const listed = (query = '') => testbed.send('GET', \`/v1/providers\${query}\`)

it('${SHOWN} lists the providers that are sold', async () => {
  expect(await listed()).toMatchObject({ status: 200, body: { providers: ['gcs', 'arweave'] } })
  expect(await listed('?speed=slow')).toMatchObject({ status: 200, body: { providers: ['arweave'] } })
  expect(await listed('?speed=warp')).toMatchObject({ status: 422, body: { error: 'validation_error' } })
})
`),
    'packages/sdk/src/info.ts': written(`
import { listProviders as endpoint } from '@svc/api/info'
import { call } from './calls/call.ts'
import type { CallArguments } from './calls/input.ts'
import type { Context } from './context.ts'

/** Lists the storage providers that are sold. */
export async function listProviders(
  context: Context,
  ...input: CallArguments<typeof endpoint>
): Promise<{ providers: string[] }> {
  return (await call(context, endpoint, ...input)).body
}
`),
    'packages/sdk/src/client.ts': all(
      before("import { buy, buyQuoted, renew } from './purchases/buy.ts'", "import { listProviders } from './info.ts'"),
      after('  price,', '  listProviders,'),
    ),
    'apps/cli/src/setup/providers.ts': written(`
import type { Command } from 'commander'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  program
    .command('providers')
    .description('the storage providers that are sold')
    .action(async (_: object, command: Command) => list(await open(command)))
}

async function list({ client, output, host }: Session): Promise<void> {
  const { providers } = await (await client()).listProviders({ signal: host.signal })
  output.result({ providers }, () => providers.map((name) => shown(name)).join('\\n'))
}
`),
    'apps/cli/src/program.ts': after(
      "    whoami: () => import('./setup/whoami.ts'),",
      "    providers: () => import('./setup/providers.ts'),",
    ),
    'apps/cli/test/setup/providers.test.ts': written(`
import { forAllTests } from '@svc/devnet/for-tests'
import { openTestGateway } from '@svc/devnet/services/test-gateway'
import { createClient, memoryJournal } from '@svc/sdk'
import { expect, it } from 'vitest'
import { useHome } from '../host.ts'

const home = useHome()
const testbed = forAllTests(() => openTestGateway({ LOCAL_PROVIDERS: 'gcs,arweave' }))

it('lists the providers of the gateway, as its client does', async () => {
  const { url } = testbed.gateway
  const { exitCode, stdout } = await home.svc(['providers'], { env: { SVC_GATEWAY: url } })
  expect([exitCode, stdout]).toEqual([0, 'gcs\\narweave\\n'])
  const client = createClient({ baseUrl: url, journal: memoryJournal(), onWarning: () => {} })
  expect(await client.listProviders({ query: { speed: 'slow' } })).toEqual({ providers: ['arweave'] })
})
`),
  },
  tests: [
    'packages/api/test',
    'apps/gateway/test/views/list-providers.test.ts',
    'apps/gateway/test/conventions.test.ts',
    'apps/gateway/test/exhaustion',
    'apps/gateway/test/continuity/behind.test.ts',
    'apps/cli/test/setup/providers.test.ts',
    'apps/cli/test/program.test.ts',
    'apps/cli/test/completion',
  ],
}

const PROVIDER: SmallChange = {
  heading: 'A storage provider',
  names: { name: 'depot' },
  edits: {
    'packages/api/src/providers.ts': after(
      "  firestore: { title: 'Firestore', code: 6, price: '0.125', speed: 'direct' },",
      "  depot: { title: 'Depot', code: 7, price: '0.2', speed: 'direct' },",
    ),
    'packages/storage/src/drivers.ts': after("  storj: s3Bucket('storj'),", "  depot: s3Bucket('depot'),"),
    'packages/api/test/providers.test.ts': after(
      "  ['firestore', 6, '0.125', 'direct'],",
      "  ['depot', 7, '0.2', 'direct'],",
    ),
    'packages/devnet/src/providers/local-stores.ts': after('  storj: s3Bucket,', '  depot: s3Bucket,'),
    'docs/providers.md': before(
      '\nAll bytes pass',
      '| `depot` | everyday files | to 625 GiB | immediate, permanent | immediately | [any S3 store](providers/storj.md) |',
    ),
  },
  tests: [
    'packages/storage/test/open-providers.test.ts',
    'apps/gateway/test/files/configured-providers.test.ts',
    'apps/gateway/test/purchases/quotes/quote.test.ts',
  ],
}

const ASSET: SmallChange = {
  heading: 'An asset',
  names: {},
  edits: {
    'packages/api/src/assets.ts': before(
      '] as const satisfies readonly Asset[]',
      "  { network: EVM, ticker: 'USDY', decimals: 5, pricing: DOLLAR, address: '0x5555555555555555555555555555555555555555' },",
    ),
    'packages/api/test/assets.test.ts': after(
      "  ['eip155:143', 'WETH', 18, 'ETH', null],",
      "  ['eip155:143', 'USDY', 5, 'usd', '0x5555555555555555555555555555555555555555'],",
    ),
  },
  tests: ['packages/payments/test/adding-an-asset.test.ts'],
}

const NETWORK: SmallChange = {
  heading: 'A network',
  names: {},
  edits: {
    'packages/api/src/networks.ts': replaced(
      'const DECLARED = [PRIMARY, EVM] as const',
      `export const OPTIMISM = evmNetwork({
  settings: 'OPTIMISM',
  name: 'optimism-mainnet',
  olderNames: [],
  title: 'Optimism',
  usualFee: '0.001',
  explorer: 'https://optimistic.etherscan.io/tx/',
  chainId: 10,
  publicNode: 'https://mainnet.optimism.io',
})

const DECLARED = [PRIMARY, EVM, OPTIMISM] as const`,
    ),
    'packages/api/src/assets.ts': all(
      replaced('import { EVM, type Network, PRIMARY }', 'import { EVM, type Network, OPTIMISM, PRIMARY }'),
      before(
        '] as const satisfies readonly Asset[]',
        "  { network: OPTIMISM, ticker: 'ETH', decimals: 18, pricing: ETH, address: OPTIMISM.nativeAsset },",
      ),
    ),
    'packages/api/test/networks.test.ts': after(
      "  ['evm', 'evm-mainnet', 'eip155:143', 'EVM', 'evm_chain'],",
      "  ['evm', 'optimism-mainnet', 'eip155:10', 'OPTIMISM', 'optimism_chain'],",
    ),
    'packages/api/test/assets.test.ts': before(
      ']\n\n/** The prices of these assets',
      "  ['eip155:10', 'ETH', 18, 'ETH', '0x0000000000000000000000000000000000000000'],",
    ),
  },
  tests: ['apps/gateway/test/views/info.test.ts', 'apps/gateway/test/config.test.ts'],
}

const SETTING: SmallChange = {
  heading: 'A setting',
  names: { module: 'files' },
  edits: {
    'apps/gateway/src/settings.ts': before(
      '  RUN_JOBS: {',
      "  MAX_FOLDER_DEPTH: {\n    group: 'tuning',\n    default: '20',\n    help: 'How many folders a file may be in',\n  },",
    ),
    'apps/gateway/src/files/settings.ts': all(
      after('  partMaxBytes: number', '  maxFolderDepth: number'),
      before(
        '    fetch: readFetchConfig(settings),',
        "    maxFolderDepth: settings.integer('MAX_FOLDER_DEPTH', { min: 1, max: 100 }),",
      ),
    ),
  },
  tests: ['apps/gateway/test/config.test.ts'],
}

export const SMALL_CHANGES: readonly SmallChange[] = [ENDPOINT, PROVIDER, ASSET, NETWORK, SETTING]
