A los Miembros de la Asamblea (AM, por sus siglas en inglés) de Gales les preocupa “parecer muppets”
Algunos Miembros de la Asamblea están desconcertados por la sugerencia de que su título debería cambiarse a Miembros del Parlamento de Gales (MWP, por sus siglas en inglés).
Este desconcierto surge de los planes de cambiar el nombre de la Asamblea a Parlamento de Gales.
A Miembros de la Asamblea de todo el espectro político les preocupa que esto pueda ser ridiculizado.
Un Miembro de la Asamblea del Partido Laborista declaró que a su grupo le preocupaba “que rimase con Twp y Pwp”.
Para los lectores de fuera de Gales: En galés, twp significa tonto y pwp significa caca.
Un Miembro de la Asamblea del Partido de Gales comentó que todo su grupo estaba “descontento” y ha sugerido alternativas.
Un miembro del Partido Conservador de Gales afirmó que su grupo estaba “abierto” al cambio de nombre, pero señaló que el salto de pronunciación de MWP a muppet era pequeño.
En este contexto, la pronunciación de la letra w en galés es parecida a la de la letra u en inglés de Yorkshire.
La Comisión de la Asamblea, que actualmente elabora la legislación para introducir el cambio de nombre, declara: “Por supuesto, la decisión final sobre cualquier elemento descriptivo de la denominación de los Miembros de la Asamblea será asunto de los propios miembros”.
La ley de 2017 del Gobierno de Gales otorgó a la Asamblea de Gales el poder de cambiar su nombre.
En junio, la Comisión publicó los resultados de una consulta pública de las propuestas que reveló un amplio apoyo para llamar Parlamento de Gales a la Asamblea.
Sobre la cuestión del título de los Miembros de la Asamblea, la Comisión prefirió Miembros del Parlamento de Gales (o WMP), pero la opción MWP obtuvo la mayor parte del apoyo en una consulta pública.
Al parecer, los Miembros de la Asamblea están sugiriendo opciones alternativas, pero la lucha por llegar a un consenso podría traer de cabeza a la presidenta de la Asamblea, Elin Jones, que debería enviar el proyecto de ley relativo a los cambios en pocas semanas.
La legislación sobre las reformas incluirá otros cambios relacionados con el funcionamiento de la asamblea, como normas sobre la inhabilitación de Miembros de la Asamblea y el diseño del sistema de comités.
Los Miembros de la Asamblea tendrán la última palabra en la pregunta de cómo deberían llamarse cuando deliberen sobre la legislación.
Los macedonios acuden a las urnas para votar un referéndum sobre el cambio de nombre del país
Los electores votarán el domingo sobre si el nombre de su país va a cambiarse a “República de Macedonia del Norte”.
La votación popular se convocó en un intento de resolver un conflicto de décadas con el país vecino, Grecia, que tiene su propia provincia llamada Macedonia.
Atenas siempre ha insistido en que el nombre de su vecino del norte supone una reclamación de su territorio y en repetidas ocasiones se ha opuesto a su candidatura de adhesión a la UE y la OTAN.
El presidente de Macedonia, Gjorge Ivanov, que se opone al plebiscito sobre el cambio de nombre, ha afirmado que hará caso omiso de la votación.
Sin embargo, los partidarios del referéndum, incluido el Primer Ministro Zoran Zaev, sostienen que el cambio de nombre es simplemente el precio que hay que pagar para unirse a la UE y a la OTAN.
Las campanas de San Martín guardan silencio por las dificultades de las iglesias de Harlem
“Históricamente, las personas mayores con las que he hablado dicen que había un bar y una iglesia en cada esquina”, comenta el señor Adams.
“Hoy en día, no hay ni una cosa ni la otra”.
Señaló que la desaparición de los bares era comprensible.
“Ahora la gente socializa de otra forma”, afirma.
“Los bares ya no son las salas de estar de los barrios a los que los vecinos van con regularidad”.
Con respecto a las iglesias, le preocupa que el dinero obtenido de la venta de bienes no durará tanto como los líderes esperan y que “antes o después, volverán al punto de partida”.
Las iglesias, añadió, podrían reemplazarse por edificios de apartamentos llenos del tipo de personas que no ayudarán a los santuarios que quedan en el barrio.
“La inmensa mayoría de personas que compran apartamentos en estos edificios serán personas blancas”, afirmó, “y, por lo tanto, acelerarán el cierre de estas iglesias, ya que es poco probable que la mayor parte de las personas que se mudan a estos apartamentos acaben siendo miembros de estas iglesias”.
Las dos iglesias fueron construidas por congregaciones blancas antes de que Harlem se convirtiese en una metrópolis negra: la Comunidad Metropolitana en 1870 y San Martín una década más tarde.
La congregación metodista blanca original se fue en los años 30 del siglo XX.
Una congregación negra que rendía culto cerca adquirió el edificio.
Una congregación negra tomó las riendas de San Martín, bajo la dirección del Reverendo John Howard Johnson, que lideró un boicot a los comerciantes de la calle 125, una calle principal de compras de Harlem, que se resistían a contratar o promover a personas negras.
En 1939, un incendio dejó el edificio gravemente dañado y, mientras los feligreses del Padre Johnson hacían planes para su reconstrucción, también encargaron el carrillón.
El Reverendo David Johnson, hijo y sucesor del Padre Johnson en San Martín, lo denominaba con orgullo “las campañas de los pobres”.
En julio, la experta que tocaba el carrillón llamó: “un tesoro cultural” y “un instrumento histórico irreemplazable”.
Además, la experta, Tiffany Ng, de la Universidad de Michigan, señaló que era el primer carrillón del mundo utilizado por un músico negro, Dionisio A. Lind, que se fue para tocar el carrillón de Riverside Church, de mayor tamaño, hace 18 años.
El señor Merriweather comentó que San Martín no lo sustituyó.
Lo que ha sucedido en San Martín en los últimos meses ha sido una complicada historia de arquitectos y contratistas, algunos traídos por los líderes laicos de la iglesia y otros por la Diócesis episcopal.
La junta parroquial, el órgano rector de la parroquia, compuesta por líderes laicos, escribió a la diócesis en julio comentando su preocupación por que la diócesis “intentase pasar los costes” a la junta, aunque esta no había participado en la contratación de los arquitectos y los contratistas enviados por la diócesis.
Algunos feligreses se quejaron de la falta de transparencia por parte de la diócesis.
Tiburón hiere a un niño de 13 años que buceaba en busca de langostas en California
Un tiburón atacó e hirió a un niño de 13 años el sábado mientras buceaba en busca de langostas en California el día que se abría la temporada de langostas, según las autoridades.
El ataque se produjo poco antes de las 7 de la mañana cerca de Beacon’s Beach, en Encinitas.
Chad Hammel informó al canal KSWB-TV de San Diego que había estado buceando con amigos durante una media hora el sábado por la mañana cuando oyó al niño pidiendo ayuda, por lo que se acercó con un grupo para sacarlo del agua.
Hammel comentó que, al principio, pensaba que tan solo estaba emocionado por haber capturado una langosta, pero luego se dio cuenta de que “estaba gritando que le habían mordido
,
tenía la clavícula destrozada”, observó Hammel cuando llegó a junto del niño.
“Grité a todos que saliesen del agua porque había un tiburón”, añadió Hammel.
El niño fue transportado en helicóptero al Hospital de Rady Children, donde se encuentra en estado crítico.
Se desconoce la especie de tiburón responsable del ataque.
El socorrista, el Capitán Larry Giles, comentó en una rueda de prensa que se había avistado un tiburón en la zona unas semanas antes, pero que no se había considerado una especie peligrosa.
Giles añadió que la víctima mostraba lesiones traumáticas en la zona superior del torso.
Las autoridades cerraron el acceso a la playa, desde Ponto Beach, en Casablad, hasta la playa Swami, en Encinitas, durante 48 horas para investigar y por motivos de seguridad.
Giles señaló que hay más de 135 especies de tiburones en la zona, pero que la mayoría no se consideran peligrosas.
Los planes de Sainsbury's impulsan el mercado de belleza del Reino Unido
Sainsbury's adquiere Boots, Superdrug y Debenhams, que cuentan con muchos empleados especializados en los pasillos de sus establecimientos de estilo y belleza.
A fin de impulsar de manera significativa el mercado de la belleza del Reino Unido, valorado en 2800 billones de libras y con un crecimiento que va en aumento en comparación con la caída de las ventas en moda y menaje del hogar, los pasillos de belleza más grandes se pondrán a prueba en 11 tiendas de todo el país y, si la superan con éxito, se hará lo mismo en más tiendas el año que viene.
La inversión en belleza llega al mismo tiempo que esta cadena de supermercados busca formas de usar el espacio en estanterías que se solía destinar a televisores, microondas y menaje del hogar.
Sainsbury's declaró que doblaría su oferta de belleza con hasta 3000 productos, incluidas marcas como Revlon, Essie, Tweezerman y Dr. PawPaw por primera vez.
Además, se dará más espacio a las gamas existentes de L'Oreal, Maybelline y Burt's Bees, con zonas parecidas a las de otros establecimientos, como Boots.
La cadena también relanzará su gama de maquillaje Boutique con una mayoría de productos respetuosos con los animales, algo cada vez más demandado por los clientes más jóvenes.
Asimismo, en la perfumería The Fragrance Shop probará sus concesiones en dos establecimientos Sainsbury's, el primero recién inaugurado en Croydon, en el sur de Londres, la semana pasada. El segundo se inaugurará en Selly Oak, en Birmingham, más tarde este año.
Las tiendas online y el cambio hacia la compra diaria de pequeñas cantidades de comida en tiendas locales obligan a los supermercados a esforzarse para convencer a la gente de que los visite.
Mike Coupe, el director ejecutivo de Sainsbury's, ha afirmado que las tiendas se parecerán cada vez más a centros comerciales mientras la cadena de supermercados intenta combatir a los establecimientos de descuentos Aldi y Lidl ofreciendo más servicios y productos que no sean de alimentación.
Sainsbury's ha integrado puntos de venta de descuentos de Argos en cientos de establecimientos y ha introducido varios Habitats desde su compra de estas cadenas hace dos años. Se considera que esto ha impulsado las ventas de comestibles y rentabilizado más estas adquisiciones.
El anterior intento de la cadena de supermercados de renovar sus departamentos de belleza y farmacia fue un fracaso.
Sainsbury's puso a prueba una operación conjunta con Boots a principios de los 2000, pero la colaboración finalizó después de una discusión sobre cómo dividir los ingresos de los puntos de venta de productos farmacéuticos en sus supermercados.
La nueva estrategia se plantea tras la venta de los 281 establecimientos de productos farmacéuticos de Sainsbury a Celesio, empresa propietaria de la cadena Lloyds Pharmacy, por 125 millones de libras hace tres años.
Se señala que Lloyds participará en el plan, añadiendo una gama ampliada de marcas de lujo para el cuidado de la piel, como La Roche-Posay y Vichy en cuatro tiendas.
Tal como comentó Paul Mills-Hicks, director comercial de Sainsbury's: “Hemos transformado el aspecto y el ambiente de nuestros pasillos de belleza de forma que potencien el entorno para nuestros clientes.
Además, hemos invertido en un personal especializado que estará disponible para ofrecer asesoramiento.
Nuestra oferta de marcas está diseñada para adaptarse a todas las necesidades. Por otra parte, un entorno atractivo y una ubicación cómoda nos convierte en un destino irresistible de productos de belleza, desafiando a la antigua forma de comprar”.
Peter Jones está “furioso” después de que Holly Willoughby rompa un acuerdo de 11 millones de libras
Peter Jones, la estrella de Dragon’s Den, se fue “furioso” después de que la presentadora de televisión Holly Willoughby rompiese un acuerdo de 11 millones de libras con su línea de negocio de estilo de vida para centrarse en sus nuevos contratos con Marks and Spencer e ITV.
Willoughby no tiene tiempo para dedicar a la marca de moda y complementos Truly.
Este negocio había comparado con la marca Goop de Gwyneth Paltrow.
La presentadora de This Morning, de 37 años anunció que abandonaba el negocio en Instagram.
Holly Willoughby ha enfurecido a Peter Jones, la estrella de Dragon’s Den, al abandonar su lucrativo negocio de estilo de vida en el último minuto para centrarse en sus extraordinarios nuevos contratos con Marks & Spencer e ITV.
Según las fuentes consultadas, Jones estaba “furioso” cuando la chica de oro de la televisión admitió que sus nuevos acuerdos, valorados en hasta 1,5 millones de libras, no de dejaban tiempo para dedicarse a Truly, su marca de moda y complementos, durante una tensa reunión celebrada el martes en la sede de su imperio empresarial en Marlow, en Buckinghamshire.
El negocio se había comparado con la marca Goop de Gwyneth Paltrow y se perfilaba como favorito para duplicar la fortuna de Willoughby, de unos 11 millones de libras.
Mientras Willoughby, de 37 años, anunciaba que abandonaba el negocio en Instagram, Jones se marchaba de Gran Bretaña para ir a una de sus casas de vacaciones.
Tal como comentaba una fuente consultada: “Truly era, con diferencia, la principal prioridad de Holly.
Iba a ser su futuro a largo plazo, lo que la mantendría en las próximas dos décadas.
Su decisión de abandonar dejó a todos los involucrados totalmente pasmados.
Nadie podía creer lo que sucedió el martes, tan cerca del lanzamiento.
Hay un almacén lleno de mercancía en la sede de Marlow, productos listos para ponerse a la venta”.
Los expertos creen que la salida de la presentadora de This Morning, una de las estrellas más rentables de Gran Bretaña, podría costar millones a la empresa debido a la importante inversión en productos que van de cojines y velas a ropa, y, posiblemente, retrasar aún más su lanzamiento.
También podría significar el fin de una larga amistad.
Willoughby y su marido, Dan Baldwin, son padres de tres hijos y hace diez años que mantienen una estrecha relación con Jones y su esposa, Tara Capp.
Willoughby estableció Truly con Capp en 2016 y Jones, de 52 años, se unió como presidente en marzo.
Las parejas iban de vacaciones juntas y Jones tiene una participación del 40 % en la productora de televisión de Baldwin.
Willoughby se va a convertir en embajadora de marca para M&S y sustituirá a Ant McPartlin como presentadora del programa I'm A Celebrity en el canal ITV.
Una fuente cercana a Jones afirmaba que ayer por la noche “no se habló de temas empresariales”.
Una conversación difícil “y luego nos enamoramos”
Bromeaba acerca de las críticas que recibe por parte de los medios de comunicación por hacer un comentario que algunos considerarían “poco presidencial” y por ser tan positivo acerca del líder norcoreano.
¿Por qué ha renunciado a tantas cosas el presidente Trump?
Trump comentó con su voz burlona de “presentador de noticias”.
“No he renunciado a nada”.
Señaló que Kim está interesado volver a reunirse con él después de que Trump encomiase la primera reunión celebrada en junio en Singapur, que consideró un gran paso hacia la desnuclearización de Corea del Norte.
Sin embargo, las negociaciones para la desnuclearización se han estancado.
Más de tres meses después de la cumbre de junio en Singapur, el principal diplomático de Corea del Norte, Ri Yong Ho, explicó a los líderes mundiales reunidos en la Asamblea General de la ONU el sábado que su país no ve una “respuesta adecuada” de los EE. UU. a los primeros pasos para el desarme de Corea del Norte.
Al contrario, señaló, los EE. UU. siguen aplicando sanciones a fin de mantener la presión.
La perspectiva de Trump fue mucho más optimista en el discurso que dio durante su mitin.
“Nos llevamos genial con Corea del Norte”, afirmó.
“Íbamos a entrar en guerra con Corea del Norte.
Habrían muerto millones de personas.
Ahora tenemos una relación fantástica”.
Dijo que sus esfuerzos por mejorar las relaciones con Kim han generado resultados positivos: el fin de las pruebas con misiles, ayuda para liberar rehenes y traer los restos mortales de soldados estadounidenses de vuelta a casa.
Además, defendió su inusual enfoque al hablar de las relaciones con Kim.
“Es muy fácil ser presidencial, pero así, en lugar de 10 000 personas ahí fuera intentando entrar en este estadio repleto, tendríamos a unas 200 personas aquí mismo”, comentó Trump, señalando a las personas que estaban justo delante de él.
Un tsunami y un terremoto en Indonesia devastan una isla, dejando cientos de fallecidos
Después del terremoto de Lombok, por ejemplo, se informó a las organizaciones no gubernamentales extranjeras que su ayuda no era necesaria.
Aunque más del 10 % de la población de Lombok había tenido que desplazarse, no se declaró una emergencia nacional, un requisito previo para catalizar la ayuda internacional.
“Lamentablemente, en muchos casos han dejado muy claro que no solicitan asistencia internacional, lo cual complica un poco las cosas”, explica la señora Sumbung.
Aunque Save the Children está preparando un equipo que enviará a Palu, aún no tienen la certeza de si el personal extranjero puede trabajar sobre el terreno.
El señor Sutopo, portavoz de la agencia nacional de emergencias, explicó que las autoridades estaban evaluando la situación en Palu para ver si se permitía que las organizaciones internacionales prestasen ayuda.
Teniendo en cuenta que la tierra se mueve constantemente en Indonesia, el país sigue estando increíblemente poco preparado cuando la naturaleza desata su ira.
Aunque se han construido refugios para tsunamis en Aceh, no se ven tantos en otras zonas costeras.
Es probable que la aparente falta de sirenas de alerta de tsunamis en Palu, incluso aunque existía una advertencia previa, haya contribuido a la pérdida de vidas.
En el mejor de los casos, viajar de una isla de Indonesia a otra supone todo un reto.
Las catástrofes naturales complican aún más la logística.
Un barco hospital que se encontraba en Lombok para atender a las víctimas del terremoto se dirige a Palu, pero tardará al menos tres días en llegar al enclave de la nueva catástrofe.
El presidente Joko Widodo convirtió la mejora de las desgastadas infraestructuras de Indonesia en el eje central de su campaña electoral, y ha destinado bastante dinero a carreteras y líneas ferroviarias.
No obstante, la falta de financiación ha afectado a la administración del señor Joko, que se enfrenta a una reelección el año que viene.
Además, debe hacer frente a la presión de las persistentes tensiones sectarias de Indonesia, donde miembros de la mayoría musulmana han adoptado una forma de fe más conservadora.
Más de 1000 personas fallecieron y decenas de miles tuvieron que abandonar sus hogares mientras bandas de cristianos y musulmanes peleaban en las calles usando machetes, arcos y flechas, y otras armas rudimentarias.
Mira esto: Daniel Sturridge, del Liverpool, iguala el marcador ante el Chelsea
Daniel Sturridge salvó al Liverpool de una derrota en la Premier League ante el Chelsea con un gol en el minuto 89 el sábado en el Stamford Bridge de Londres.
Sturridge recibió un pase de Xherdan Shaqiri a algo más de 27 metros de la portería del Chelsea cuando el marcador estaba 1-0.
Colocó el balón en su pie izquierdo con un toque antes de lanzarlo al segundo palo.
La acción lo mandó por encima del área y se dirigió hacia la esquina superior derecha de la red.
Finalmente, el balón pasó por encima de Kepa Arrizabalaga que intentó pararlo con un salto y cayó en la red.
“Estaba intentando colocarme en esa posición para hacerme con el balón y los jugadores como Shaq siempre juegan muy adelantados, así que intenté darme todo el tiempo posible”, comentó Sturridge a LiverpoolFC.com.
“Vi que Kante se acercaba y le di un toque. No lo pensé demasiado, solo lancé el tiro”.
Chelsea iba ganando 1-0 en la primera mitad después de que la estrella belga Eden Hazard marcase un gol en el minuto 25.
El mediapunta del Blues hizo un pase de tacón a Mateo Kovacic en esa jugada, antes de girar haciendo un regate cerca del medio campo y entrar en al campo del Liverpool.
Kovacic pasó rápidamente el balón y salió corriendo en el medio campo.
Después, hizo un bonito pase al espacio que llevó a Hazard al área.
Hazard se sitúo delante de la defensa y remató lanzando el balón a la red del segundo poste con una patada con el pie izquierdo que Alisson Becker, del Liverpool, no pudo parar.
El miércoles a las 15:00, el Liverpool juega contra el Napoli en la fase de grupos de la Champions League. El encuentro se celebrará en el Estadio San Paolo, en Nápoles (Italia).
Por su parte, el Chelsea se enfrenta a Videoton en la UEFA Europa League el jueves a las 15:00 en Londres.
El número de víctimas del tsunami de Indonesia aumenta a 832
El número de víctimas por el terremoto y el tsunami sucedido en Indonesia ha aumentado a 832, tal como informó la agencia de emergencias del país a primera hora del domingo.
Muchas personas quedaron atrapadas entre los escombros de los edificios que se derrumbaron durante el terremoto de magnitud 7,5 que se produjo el viernes y que desató olas de hasta seis metros, según informó el portavoz de la agencia, Sutopo Purwo Nugroho durante una rueda de prensa.
La ciudad de Palu, con más de 380 000 habitantes, quedó cubierta de restos de los edificios derrumbados.
La policía arresta a un hombre de 32 años como sospechoso de asesinato después de que una mujer fuese apuñalada hasta la muerte
Se ha abierto una investigación por asesinato después de que se encontrase el cuerpo de una mujer en Birkenhead, en Merseyside, esta mañana.
La mujer de 44 años fue encontrada a las 7:55 con puñaladas en Grayson Mews, en John Street, lo cual supuso el arresto de un hombre de 32 años como sospechoso de asesinato.
La policía ha instado a las personas de la zona que hayan visto u oído algo a que acudan a la policía.
El inspector Brian O'Hagan comentó: “La investigación se encuentra en las fases iniciales, pero animaría a cualquiera que estuviese estado cerca de Jonh Street, en Birkenhead, y que haya visto u oído algo sospechoso a que contactase con nosotros.
Además, recomendaría a cualquier persona, especialmente a los taxistas, que haya podido captar algo en dashcam que contactase con nosotros, ya que pueden tener información vital para nuestra investigación”.
Un portavoz de la Policía ha confirmado que la mujer cuyo cuerpo se ha encontrado es de Birkenhead y que se halló en el interior de una propiedad.
Esta tarde algunas personas que creen conocer a la mujer llegaron a la escena del crimen para saber dónde la habían encontrado esta mañana.
La investigación está en curso y la policía ha informado de que están en proceso de informar a los familiares de la víctima.
Un taxista que vive en Grayson Mews ha intentado volver a entrar en su piso, pero la policía le dice que nadie puede entrar ni salir del edificio.
Se quedó perplejo cuando descubrió lo que había sucedido.
Ahora, se informa a los residentes que se les permitirá volver a entrar en unas horas.
Alguien oyó a un agente contar a un hombre que toda la zona se estaba tratando como escena del crimen.
Una mujer apareció en el lugar en lágrimas.
No deja de repetir “es terrible”.
A las dos de la tarde, había dos furgonetas de policía dentro del cordón y una más fuera.
Varios agentes permanecían en pie dentro del cordón controlando el bloque de pisos.
Se solicita a cualquier persona que tenga información que envíe un correo a DM @MerPolCC, llame al 101 o que contacte con Crimestoppers de forma anónima en el número 0800 555 111, registro 247 del 30 de septiembre.
La estatua de Cromwell del Parlamento se convierte en el último éxito conmemorativo por “reescribir la historia”
Su prohibición sería un acto de justicia poética para esta destrucción estilo talibán de tantos objetos culturales y religiosos de Inglaterra llevada a cabo por sus fanáticos seguidores puritanos.
Sin embargo, la Cromwell Society describió las sugerencias del señor Crick como una “locura” y un “intento de reescribir la historia”.
John Goldsmith, presidente de la Cromwell Society, comentó: “En el debate actual sobre la eliminación de estatuas, era inevitable que sacar la figura de Oliver Cromwell del Palacio de Westminster se convirtiese en un objetivo.
La iconoclasia de las guerras civiles inglesas no fue ordenada ni llevada a cabo por Cromwell.
Puede que se sacrifique al Cromwell equivocado por las acciones de su antepasado, Thomas, durante el siglo anterior.
La magnífica representación de Sir William Hamo Thorneycroft de Cromwell es una prueba de la opinión del siglo XIX y de parte de la historiografía de una figura que muchos consideran digna de celebrar.
Tal como señaló el señor Goldsmith a The Sunday Telegraph: “Muchos consideran a Cromwell, quizás más a finales del siglo XIX que en la actualidad, un defensor del parlamento ante la presión externa, en este caso, está claro, la monarquía.
Si se trata de una descripción totalmente precisa es cuestión de continuar con el debate histórico.
Lo que sí es cierto es que el conflicto de mediados del siglo XVII ha dado forma al posterior desarrollo de nuestra nación, y Cromwell es una figura reconocible que representa una cara de esa división.
Sus logros como Lord Protector también son dignos de celebrar y conmemorar.”.
Un cerdo asesino ataca a un ganadero chino
Un cerdo atacó y mató a un ganadero en un mercado del suroeste de China, según medios de comunicación locales.
El hombre, identificado únicamente por su apellido “Yuan”, fue encontrado muerto con una arteria seccionada y cubierto de sangre cerca de una pocilga del mercado de Liupanshui, en la provincia de Guizhou, tal como el periódico South China Morning Post informó el domingo.
El 30 de mayo de 2005, un criador de cerdos se prepara para inyectar vacunas a los cerdos de una pocilga en Xining, en la provincia de Qinghai (China).
Según parece, viajó con su primo desde la provincia vecina de Yunnan el miércoles para vender 15 cerdos en el mercado.
A la mañana siguiente, su primo lo encontró muerto y descubrió que la puerta de una pocilga cercana estaba abierta.
Dijo que en la pocilga había un gran cerdo con sangre en la boca.
El examen forense confirmó que el cerdo de casi 250 kilos había atacado al ganadero hasta la muerte, según el informe.
“Las piernas de mi primo estaban ensangrentadas y destrozadas”, declaró el primo, al que se dirigen por su apellido, “Wu”, a The Guiyang Evening News.
Las imágenes de la cámara de seguridad mostraban a Yuan entrando en el mercado el jueves a las 4:40 para alimentar a sus cerdos.
Su cuerpo fue encontrado aproximadamente una hora después.
El animal que mató al hombre no pertenecía ni a Yuan ni a su primo.
Un gerente del mercado informó a The Evening News que el cerdo estaba encerrado para impedir que atacase a nadie más, mientras la policía recogía pruebas en el lugar.
Parece que la familia de Yuan y las autoridades del mercado están negociando una compensación por su muerte.
Aunque son raros, no es la primera vez que un cerdo ataca a una persona.
En 2016, un cerdo atacó a una mujer y a su marido en su granja de Massachusetts, dejando al hombre herido de gravedad.
Diez años antes, un cerdo de casi 295 kilos acorraló a un ganadero en su tractor hasta que su esposa espantó al animal.
Después de que, en 2012, unos cerdos se comiesen a un ganadero de Oregón, un ganadero de Manitoba declaró a CBC News que los cerdos no suelen ser agresivos, pero que el sabor de la sangre puede actuar como “disparador”.
“Solo están jugando.
Son como niños, muy curiosos... su intención no es hacer daño.
Lo que hay que hacer es tenerles el respeto adecuado”, afirmó.
