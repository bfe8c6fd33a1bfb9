import { useEffect } from 'preact/hooks'
import { urlOf } from '../../address.ts'
import { SearchBox } from '../../search/search-box.tsx'
import { texts } from '../../texts/texts.ts'
import { Icon } from '../../ui/icons.tsx'
import { Numbers } from './numbers.tsx'
import { Picture } from './picture.tsx'
import { PriceCalculator } from './price.tsx'
import { Ways } from './ways.tsx'
import './welcome.css'

const t = texts.welcome

export default function Welcome() {
  useEffect(() => {
    document.title = texts.frame.name
  }, [])
  return (
    <div class="wide welcome">
      <section class="hero">
        <div class="hero-text">
          <h1>{t.title}</h1>
          <p class="lead">{t.lead}</p>
          <div class="row">
            <a class="button button-primary" href={urlOf('/docs')}>
              {t.tryApi}
              <Icon name="arrow" />
            </a>
            <a class="button" href="#ways">
              {t.seeWays}
            </a>
          </div>
        </div>
        <Picture />
      </section>
      <Numbers />
      <SearchBox />
      <PriceCalculator />
      <Ways />
    </div>
  )
}
