"""The commonest function words of each language that is told by them, lower case, with their accents."""

STOP_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": """a an the and or but nor so if then than because as until while of at by for with about against
            between into through during before after above below to from up down in out on off over under again
            further once here there when where why how what which who whom whose this that these those i me my mine we
            us our ours you your yours he him his she her hers it its they them their theirs myself yourself himself
            itself themselves am is are was were be been being have has had having do does did doing done will would
            shall should can could may might must cannot not no yes any all both each few more most other another some
            such only own same too very just also even every many much since without within upon among however
            although though whether either neither yet still while ever never dont doesnt didnt isnt arent wasnt
            werent cant wont wouldnt shouldnt couldnt hasnt havent""",
        "de": """der die das den dem des ein eine einen einem einer eines und oder aber denn sondern wenn weil dass
            daß ob als wie wo wer was wann warum welche welcher welches in im an am auf aus bei beim bis durch für
            gegen mit nach ohne seit über um unter von vom vor zu zum zur zwischen ich du er sie es wir ihr mich mir
            dich dir ihn ihm uns euch ihnen sich mein dein sein seine seiner seinem seinen ihre ihren ihrer ihrem
            unser kein keine keinen dieser diese dieses diesem diesen jede jeder jedes alle allem allen ist sind war
            waren bin bist wird werden wurde wurden worden hat haben hatte hatten kann können konnte soll sollte muss
            müssen darf nicht nur auch noch schon sehr so da dann doch man mehr hier immer wieder jedoch sowie
            beispielsweise""",
        "nl": """de het een en of maar want als dan dat die dit deze wie wat waar wanneer waarom hoe welke in op aan
            bij van voor door met naar om onder over tegen tot uit zonder tussen tijdens na sinds ik jij je hij zij ze
            wij we jullie mij me hem haar ons hun hen zich mijn zijn onze is ben bent was waren wordt worden werd
            werden heeft hebben had hadden kan kunnen kon zal zullen zou zouden moet moeten mag niet geen ook nog wel
            al er daar hier zo te toen toch veel meer andere zoals echter omdat altijd alleen iets niets""",
        "fr": """le la les un une des du de au aux et ou mais donc car ni que qui quoi dont où quand comment pourquoi
            quel quelle quels quelles ce cet cette ces cela ça je tu il elle on nous vous ils elles me te se moi toi
            lui leur leurs eux mon ma mes ton ta tes son sa ses notre nos votre vos à dans en par pour sur sous avec
            sans chez vers entre depuis pendant avant après contre jusque est sont était étaient suis es être été fut
            sera ont a avait avoir ai peut peuvent doit fait faire ne pas plus moins très bien aussi tout tous toute
            toutes même si comme ainsi alors encore toujours jamais y qu lorsque plusieurs autre autres""",
        "es": """el la los las un una unos unas de del al y e o u pero sino porque que quien quienes cual cuales
            cuando donde como cómo qué quién cuál cuándo dónde en por para con sin sobre entre hasta desde hacia según
            durante contra ante bajo tras yo tú él ella ellos ellas nosotros usted ustedes me te se nos lo le les mi
            mis tu tus su sus nuestro nuestra este esta estos estas esto ese esa esos esas eso aquel aquella es son
            era eran fue fueron ser sido está están estar ha han había haber hay tiene tienen tener puede pueden no ni
            sí más menos muy también ya todo todos toda todas otro otra otros otras mismo si aunque así cada""",
        "it": """il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal
            dalla dai dalle in nel nello nella nei negli nelle su sul sulla sui sulle con per tra fra e ed o ma se che
            chi cui quale quali quando dove come perché cosa io tu lui lei noi voi loro mi ti si ci vi ne mio mia suo
            sua suoi sue nostro nostra questo questa questi queste quello quella quelli è sono era erano essere stato
            stata stati fu furono ha hanno aveva avere può possono deve non più anche molto già ancora sempre tutto
            tutti tutte ogni altro altri altre dopo prima senza sotto durante mentre quindi però così""",
        "pt": """o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às por pelo pela pelos pelas
            para com sem sobre entre até desde e ou mas porque que quem qual quais quando onde como eu tu ele ela nós
            vocês você eles elas me te se lhe lhes meu minha seu sua seus suas nosso nossa este esta estes estas isto
            esse essa esses essas isso aquele aquela é são era eram foi foram ser sido está estão estar há tem têm ter
            tinha havia pode podem deve não nem sim mais menos muito também já ainda todo todos toda todas outro outra
            outros outras mesmo mesma se num numa dele dela depois antes durante""",
        "ca": """el la els les un una uns unes de del dels al als i o però que qui què quan on com perquè en a amb
            sense per sobre entre fins des cap jo tu ell ella nosaltres ells elles em et es ens us ho hi li meu seva
            seu seus seves nostre aquest aquesta aquests aquestes això aquell és són era eren va van ser estat està
            estan ha han havia té tenen pot poden no ni més menys molt també ja tot tots tota totes altre altra altres
            mateix si""",
        "sv": """och i att det som en ett den de på är av för med till inte om var har jag du han hon vi ni man sig
            från men så vid kan ska skall skulle hade blev bli blir när där här hur vad vem varför vilken vilket vilka
            eller också mycket mer än efter under över mellan utan genom hos mot min mitt mina din ditt sin sitt sina
            deras hans hennes vår våra denna detta dessa dem oss mig dig honom henne alla allt andra någon något några
            ingen inget inga måste vara varit varje bara redan nu då eftersom""",
        "da": """og i at det som en et den de på er af for med til ikke om var har jeg du han hun vi man sig fra men
            så ved kan skal skulle havde blev bliver blive når hvor her hvad hvem hvorfor hvilken hvilket eller også
            meget mere end efter under over mellem uden gennem hos mod min mit mine din dit sin sit sine deres hans
            hendes vores denne dette disse dem os mig dig ham hende alle alt andre nogen noget nogle ingen intet må
            være været hver kun allerede nu da fordi""",
        "no": """og i at det som en et ei den de på er av for med til ikke om var har jeg du han hun vi man seg fra
            men så ved kan skal skulle hadde ble blir bli når hvor her hva hvem hvorfor hvilken hvilket eller også mye
            mer enn etter under over mellom uten gjennom hos mot min mitt mine din ditt sin sitt sine deres hans
            hennes vår våre denne dette disse dem oss meg deg ham henne alle alt andre noen noe ingen ingenting må
            være vært hver bare allerede nå da fordi""",
        "fi": """ja on ei että se ne hän he minä sinä me te tämä tämän tätä nämä näiden tuo joka jotka jonka jossa
            jota mikä mitä missä milloin miksi miten kuka kuin kun jos niin mutta vaan tai sekä eli myös vain vielä jo
            nyt sitten siitä sen sitä siinä siihen niiden niitä hänen heidän minun ovat oli olivat ole olla ollut
            olisi voi voivat voidaan pitää eivät en et emme kanssa mukaan jälkeen ennen ilman kautta välillä aikana
            hyvin enemmän kaikki kaikkien muut muiden toinen sama""",
        "pl": """i w we z ze na do od po za przez przed pod nad dla bez o u przy między oraz a ale lub albo czy że
            żeby aby jeśli jeżeli gdy kiedy gdzie jak co kto który która które których którym którego jaki jakie ten
            ta to te tego tej tym tych temu ja ty on ona ono my wy oni one mnie mi ciebie go jego jej ich im nim nich
            się siebie swój swoje swoich jest są był była było były być będzie został została zostały może mogą nie
            tak tylko też także już jeszcze bardzo więcej niż wszystkie wszystkich inny inne ponieważ tam tu""",
        "cs": """a i v ve z ze na do od po za přes před pod nad pro bez o u při mezi nebo ale že aby když kdy kde jak
            co kdo který která které kterou kterých kterým kteří jaký ten ta to ti ty toho té tom tím těch tomu já ty
            on ona ono my vy oni mě mi tě jeho její jejich jim ho mu se si svůj své svých je jsou byl byla bylo byli
            být bude budou má mají může mohou ne ani ano jen také už již ještě velmi více než všechny všech jiný jiné
            protože tam zde tak však podle""",
        "hu": """a az és hogy nem is egy ez azt ezt ezek azok ezen azon meg de vagy ha mert mint csak már még volt
            voltak van vannak lesz lett lehet kell ki mi mit hol mikor miért hogyan melyik amely amelyek amelyet aki
            akik ami amit ahol amikor én te ő mi ti ők engem neki nekik nekem őt maga saját minden mindig nagyon több
            sok után előtt alatt között nélkül szerint által során mellett felett pedig illetve így úgy akkor itt ott
            majd sem se el fel be le""",
        "ro": """și în la de din pe cu pentru prin despre după între până fără sub peste spre a al ale ai un o unui
            unei unor sau dar ci iar că să dacă când unde cum ce cine care căror cărui cel cea cei cele acest această
            aceste acestui acestei acesta aceasta acela eu tu el ea noi voi ei ele mă te se ne vă îi îl le lui lor său
            sa săi sale meu mea nostru este sunt era erau fi fost fiind are au avea poate pot trebuie nu mai foarte și
            doar numai decât toate toți tot alt altă alte alți nici deja încă astfel""",
        "tr": """ve bir bu şu o da de ki mi mı mu mü ile için gibi kadar göre sonra önce ama fakat ancak veya ya çünkü
            eğer ne nasıl neden niçin nerede kim hangi kaç ben sen biz siz onlar onun onu ona onların bunu bunun buna
            benim senin bizim kendi her hiç çok daha en az tüm bütün bazı diğer başka aynı var yok değil olan olarak
            olduğu olduğunu olup oldu olması olmak idi ise iken edilen eden etmek arasında üzerinde tarafından bile
            artık hem böyle şekilde""",
        "ru": """и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее её мне было
            вот от меня еще ещё нет о из ему когда даже ну ли если или ни быть был него до вас уже для мы их чем была
            сам чтобы без чего где кто какой какая какие каких почему сколько это эта этот эти этого этой этом этих
            тот того тем тех том которые который которая которое которых которой которого при над под между через
            после перед более также были будет может могут есть является свою своей своих они него неё них
            нам нас ним""",
        "uk": """і й в у не що він на я з зі із як а то все вона так його але та ти до ж ви за б по тільки її мені
            було від мене ще немає о йому коли навіть чи якщо або ні бути був вас вже для ми їх ніж була сам щоб без
            де хто який яка яке які яких якої якого чому скільки це цей ця ці цього цієї цих той того тим тих при над
            під між через після перед більше також були буде може можуть є вони нього неї них нам нас""",
        "bg": """и в във не че той на аз с със като а то всички тя така му но да ти към у вие за по само я ми беше от
            мен още няма когато дори ли ако или нито е съм са бил бъде вас вече ние ги си сам без къде кой коя кое кои
            който която което които защо колко това този тази тези онзи при над под между през след преди повече също
            бяха ще може могат има те него нея тях нас се""",
    }.items()
}

CODE_WORDS = frozenset((
    "all", "and", "any", "as", "async", "await", "bool", "break", "case", "catch", "class", "const", "def", "default",
    "do", "each", "else", "end", "enum", "except", "export", "false", "final", "finally", "for", "from", "func",
    "function", "global", "has", "if", "import", "in", "int", "is", "lambda", "let", "new", "no", "none", "not",
    "null", "on", "or", "out", "pass", "private", "public", "raise", "return", "select", "self", "static", "str",
    "struct", "super", "switch", "then", "this", "throw", "to", "true", "try", "type", "use", "val", "var", "void",
    "where", "while", "with", "yield",
))  # fmt: skip
"""Words that source code is full of whatever its authors speak: no evidence of a language."""
