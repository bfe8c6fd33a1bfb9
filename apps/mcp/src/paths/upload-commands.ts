import type { UrlSet } from '@svc/api/file-entries'

/** What somebody runs who has the file: the bytes go up by a short URL, then the gateway records their hash. */
export function uploadCommands(gateway: string, receiptId: string, urls: UrlSet): string[] {
  const { upload_url, upload_headers, filename } = urls
  const headers = Object.entries(upload_headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`)
  const query = new URLSearchParams({ receipt_id: receiptId, filename })
  return [
    ['curl --fail -T FILE', ...headers, shellWord(upload_url)].join(' '),
    `curl --fail -X POST ${shellWord(`${gateway}/v1/files/confirm?${query}`)}`,
  ]
}

/** Whatever it holds, a shell takes it as one word and does nothing with it. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
