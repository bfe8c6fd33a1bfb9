import type { Download } from '@svc/sdk'
import { saveAs } from '@svc/sdk/node'
import { openDownload } from './encryption.ts'
import { type GetOptions, safePath } from './safe-path.ts'

/** Saves a download below the folder, decrypted if that is asked for, and says whether it is encrypted there. */
export async function saveDownload(download: Download, options: GetOptions): Promise<{ isEncrypted: boolean }> {
  const { out, overwrite: replace = false, decrypt = null } = options
  const { download: opened, isEncrypted, name } = await openDownload(download, decrypt)
  await saveAs(opened, await safePath(out, name), { replace })
  return { isEncrypted }
}
