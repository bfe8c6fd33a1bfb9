// Writes objects, given as `id:length`, all at once; prints the outcome of each.
import { Readable } from 'node:stream'
import { openLocalProvider } from '../../src/local/open.ts'
import { ProviderError } from '../../src/provider.ts'

const [folder, ...objects] = process.argv.slice(2)
const provider = await openLocalProvider({ folder: folder! })

async function write(object: string): Promise<string | number> {
  const [id, length] = object.split(':') as [string, string]
  const source = Readable.from(pieces(Number(length)), { objectMode: false })
  try {
    return (await provider.write(id, source, { contentType: 'text/plain', size: Number(length) })).size
  } catch (error) {
    return error instanceof ProviderError ? error.reason : `${error}`
  }
}

function* pieces(length: number) {
  for (let left = length; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536), 7)
}

console.log(JSON.stringify(await Promise.all(objects.map(write))))
