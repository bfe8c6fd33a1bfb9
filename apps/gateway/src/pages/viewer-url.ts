import type { Context } from '../context.ts'

/** The page that shows a file, as `apps/web` declares it. */
const VIEWER = '/view/{receipt_id}/{+filename}'

/** Where people view a file of a public link: on the viewer page or, if that is not built, directly. */
export function viewerUrl({ config, pages }: Context, linkId: string, filename: string): string {
  const name = filename.split('/').map(encodeURIComponent).join('/')
  const hasViewer = pages?.pages.some(({ path }) => path === VIEWER)
  return `${config.http.baseUrl}${hasViewer ? `/view/${linkId}/${name}` : `/v1/r/${linkId}/f/${name}`}`
}
