/**
 * The words of simulated text, by part of speech. The lists are long, because words that are not
 * one token of the tokenizer are skipped.
 */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Words that open a sentence, before a noun or an adjective. */
export const DETERMINERS = words(`
  the this that each every one some another our their its his her my your any either no
`);

export const ADJECTIVES = words(`
  able actual ancient annual average bad basic beautiful best big black blue brief bright broad busy
  calm careful central certain cheap civil classic clean clear close cold common complete complex
  correct current daily dark dead deep direct distant double dry early eastern easy effective empty
  entire equal exact extra fair familiar famous fast final fine first flat foreign formal free fresh
  friendly full future general gentle global golden good grand gray great green happy hard heavy
  helpful hidden high hot huge human ideal important independent initial inner internal joint key
  known large last late leading left legal light likely limited little live local long loose loud
  low lucky main major massive mean medical middle mild minor mobile modern moral native natural
  near neat necessary new next nice normal northern novel odd official old only open ordinary
  original other outer overall own past perfect personal physical plain pleasant poor popular
  positive possible potential practical precise present previous primary private proper proud public
  pure quick quiet random rapid rare raw ready real recent red regional regular related relevant
  remote rich right rough round royal rural safe second secret secure senior separate serious
  several shared sharp short significant silent similar simple single slow small smart smooth social
  soft solid southern special specific stable standard steady strange strict strong sudden
  sufficient sure sweet tall technical thick thin tight tiny total traditional true typical unique
  unusual upper urban useful usual valid valuable various vast visible vital warm weak western wet
  white whole wide wild wise wonderful wooden wrong yellow young
`);

export const NOUNS = words(`
  access account act action activity address advice afternoon age agreement air airport amount
  analysis angle animal answer apple approach area argument arm army art article artist aspect
  attempt attention author autumn award baby background balance ball band bank bar base basis battle
  beach bed behavior bell benefit bird block blood board boat body bone book border bottle bottom
  box boy branch bread bridge brother budget building bus business butter cabinet camera camp
  capital captain car card care career case cause center century chain chair challenge chance change
  chapter character charge choice church circle citizen city class client climate clock cloud club
  coach coast code coffee collection college color column comment committee company comparison
  computer concept concern condition conference connection contact content contest context contract
  control conversation corner cost council country couple course court cover cream crew cross crowd
  culture cup customer cycle damage dance data date daughter day deal debate decade decision degree
  demand department depth desert design desk detail development device difference dinner direction
  director discussion disease distance district doctor document dog door doubt draft drama dream
  dress drink driver earth east economy edge education effect effort election element energy engine
  entry environment error essay evening event evidence example exchange exercise experience expert
  eye face fact factor factory failure faith family farm farmer father feature field figure film
  finger fire firm fish floor flow flower focus food foot force forest form frame friend fruit fuel
  function fund game garden gate gift girl glass goal gold government grade grain grass ground group
  growth guard guest guide hall hand harbor head health heart heat height help hill history home
  hope horse hospital hotel hour house idea image impact income index industry influence information
  insect interest interview island issue item job journal journey judge key kitchen knowledge lake
  land language law lawyer leader leaf length lesson letter level library life light limit line link
  list loss lot love lunch machine magazine manager map mark market master match material matter
  meaning measure meat meeting member memory message metal method mile milk mind mine minute mirror
  mission model moment money month moon morning mother motion mountain mouth movement movie museum
  music name nation nature neck network news night noise north note notice number object ocean offer
  office officer oil opinion option orange order organization owner page pain paint pair panel paper
  parent park part partner party passage path pattern payment peace people percent performance
  period person phase phone photo phrase picture piece place plan plane planet plant plate player
  poem poet point police policy pool population port position post potato power practice presence
  president press price principle prison problem process product profit program progress project
  promise proof property proposal protection purpose quality quarter queen question race radio rain
  range rate ratio reaction reader reason record reference reform region relation release relief
  report request research resource response rest result return review rice right ring rise risk
  river road rock role roof room root rose route row rule sale salt sample sand scale scene schedule
  school science scientist score screen sea season seat secret section sector seed sense sentence
  series service session shape share sheet shell ship shop shore shoulder side sign signal silver
  sister site situation size skill skin sky sleep snow society soil soldier solution son song sort
  sound source south space speech speed spirit sport spring square staff stage standard star state
  statement station status step stock stone store storm story strategy stream street strength
  structure student study style subject success sugar summer sun supply support surface survey
  system table talk target task tax teacher team technique technology temperature term test text
  theme theory thing thought ticket time title tone tool top topic total touch tour tower town track
  trade tradition traffic train training transport travel treatment tree trend trial trip truck
  trust truth turn type union unit university use user valley value variety version vessel victory
  view village vision visit visitor voice volume wall war waste watch water wave way wealth weather
  web week weight west wheel wife wind window wine winter wish woman wood word work worker world
  writer year youth zone
`);

/** Verbs in the third person, so that they can follow every noun of the list. */
export const VERBS = words(`
  accepts adds affects allows answers appears applies argues asks avoids became began brings brought
  builds built called came carried carries caused causes changed changes checks chose claims closed
  combines comes compared confirmed connects considered contains continues controls covered covers
  created creates cuts defines demands depends describes described determines developed discovered
  drew drives drove ends enjoys enters explained explains expressed faced follows followed found
  gained gave gives grew grows guides handles held helped helps hides holds improved improves
  included includes increases indicates introduced involves joined keeps kept knew knows leads
  learned leaves left lets likes limits lost loves made makes managed marked matches means measures
  met missed moved moves needed needs noticed offered offers opened opens owns passed passes picked
  placed plans played plays points prefers prepared presents produced produces promised proposed
  protects proved proves provided provides published pulled pushed puts raised raises reached
  reaches received recalls recognized records reduced reduces refers reflects rejected remains
  remembered removed removes repeated replaced replaces reported represents requires returned
  returns reveals runs saved saw says seems sees selected sends sent serves served sets shaped
  shares showed shows solved solves spent starts started stays stopped stops studied suggested
  suggests supported supports takes taught tells tested tests thinks told took touched traces treats
  tried turned turns understands used uses visited wanted wants warns watched wins won works writes
  wrote
`);

export const PREPOSITIONS = words(`
  about above across after against along among around at before behind below beneath beside between
  beyond by during for from in inside into like near of off on onto out outside over past since
  through to toward towards under until upon with within without
`);

export const ADVERBS = words(`
  again almost already always apart away certainly clearly closely deeply directly early easily
  elsewhere entirely eventually everywhere exactly fairly finally forever freely frequently gently
  gradually here highly immediately indeed largely lately later mostly much naturally nearly now
  nowhere often once openly partly perfectly perhaps possibly properly quickly quietly rapidly
  rarely readily really recently regularly sharply slightly slowly somewhere soon steadily still
  strongly surely then there today together tomorrow tonight twice usually well yesterday
`);

/** Words between two clauses, after a comma. */
export const CONJUNCTIONS = words(
  `and but so because while although when where whereas since unless if or yet`,
);
