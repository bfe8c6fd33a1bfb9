import type { TusToken } from '@svc/sdk'
import type { Command } from 'commander'
import { jsonLine, shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import { minutes } from './url.ts'

interface TokenOptions {
  ttl?: number
  prefix?: string
  overwrite?: boolean
}

export function add(program: Command, open: Open): void {
  const tus = program.command('tus').description('let stock tus clients upload into the locker')
  tus
    .command('token')
    .description('print an address and a header for tus clients, and a code snippet')
    .option('--ttl <minutes>', 'how long it can create uploads: 1 to 1440; 60 by default', minutes)
    .option('--prefix <folder/>', 'prefix of all file names; the uploads are then new files')
    .option('--overwrite', 'with --prefix: uploads may also replace files')
    .action(async (options: TokenOptions, command: Command) => token(await open(command), options))
}

async function token(session: Session, { ttl, prefix, overwrite }: TokenOptions): Promise<void> {
  const locker = await session.locker()
  const client = await session.lockerClient(locker)
  const made = await client.tusToken(locker, {
    ...(ttl !== undefined && { ttl_min: ttl }),
    ...(prefix !== undefined && { prefix }),
    ...(overwrite !== undefined && { overwrite }),
    signal: session.host.signal,
  })
  session.output.result({ locker_id: locker.locker_id, ...made }, () => snippet(made))
  session.output.note('Anyone who has the token can upload until then. `svc revoke` ends it earlier.')
}

/** The snippet is pasted as code: every value from the gateway is a string literal in it. */
function snippet({ tus_endpoint, headers, expires_at }: TusToken): string {
  return `// npm install tus-js-client; the token creates uploads until ${shown(expires_at)}
import { createReadStream, statSync } from 'node:fs'
import { Upload } from 'tus-js-client'

const [path] = process.argv.slice(2)
new Upload(createReadStream(path), {
  endpoint: ${jsonLine(tus_endpoint)},
  headers: { 'X-Upload-Token': ${jsonLine(headers['X-Upload-Token'])} },
  metadata: { filename: path.split('/').at(-1) },
  uploadSize: statSync(path).size,
  retryDelays: [0, 1000, 3000, 5000, 10000],
  onError: (error) => { console.error(error.message); process.exitCode = 1 },
  onSuccess: ({ lastResponse }) => console.log(lastResponse.getHeader('Svc-Content-Hash')),
}).start()`
}
